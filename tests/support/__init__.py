"""Shared test inputs, built in memory: a tiny backbone, a tiny corpus, runs of a few steps."""
