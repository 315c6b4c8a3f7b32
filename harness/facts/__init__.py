"""Published numbers, independent evidence, statistics and rules of verdicts, for plan and report."""
