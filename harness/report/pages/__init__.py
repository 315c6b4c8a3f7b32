"""The HTML pages of the report."""
