"""Published numbers, what others and we have measured, and the rules that judge a number."""
