"""Study: how often do verdicts and comparisons err? `python -m benchmarks.verdicts`."""
