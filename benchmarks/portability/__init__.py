"""Study: are portable results bit-identical on other processors? `python -m benchmarks.portability`."""
