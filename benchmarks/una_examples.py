"""UNA: sentences of a corpus beside their corrupted copies, in both styles.

    python benchmarks/una_examples.py --corpus FILE [--rows N...] [--seed N] [--radius N]

FILE holds one sentence a line; the statistics are of all its lines. Prints Markdown.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from methods.core.types import Row
from methods.una.config import UNAConfig
from methods.una.negatives import Negatives


def settings(style: str, radius: int) -> UNAConfig:
    return UNAConfig(
        max_length=32,
        temperature=0.05,
        head="mlp",
        positive="dropout",
        period=5,
        magnitude=0.5,
        radius=radius,
        role="pair",
        unit="position",
        select="tfidf",
        replace="window",
        unchanged="repair",
        statistics="corpus",
        style=style,  # type: ignore[arg-type]  # one of the two, from main
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--corpus", type=Path, required=True, help="one sentence a line")
    parser.add_argument("--rows", type=int, nargs="+", default=[0, 1, 2], help="lines to show, from 0")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--radius", type=int, default=4000)
    given = parser.parse_args()
    lines = [line for line in given.corpus.read_text(encoding="utf-8").splitlines() if line.strip()]
    rows = [Row(number, line.strip()) for number, line in enumerate(lines)]
    shown = [rows[number] for number in given.rows]
    lower, matched = (
        Negatives(rows, settings(style, given.radius)).write(shown, np.random.default_rng(given.seed)).texts
        for style in ("lower", "matched")
    )
    for row, *copies in zip(shown, lower, matched, strict=True):
        print(f"\n- {row.text}")
        for name, copy in zip(("lower", "matched"), copies, strict=True):
            print(f"  - {name}: {copy}")


if __name__ == "__main__":
    main()
