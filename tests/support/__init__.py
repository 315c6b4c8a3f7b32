"""What tests of several rooms build in memory: a tiny backbone, a tiny corpus, runs of a few steps."""
