"""Specs, scores and published numbers become cells with verdicts."""
