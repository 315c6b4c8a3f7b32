"""What is known of published numbers, and the rules of verdicts: read by plan and report."""
