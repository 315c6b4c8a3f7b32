"""Simulates the studies, and writes their rates and the tables of docs/verdicts.md."""

import sys

from benchmarks.verdicts.tables import main

if __name__ == "__main__":
    sys.exit(main())
