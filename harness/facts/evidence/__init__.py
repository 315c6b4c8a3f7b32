"""What others measured when they ran the systems of the tables again."""
