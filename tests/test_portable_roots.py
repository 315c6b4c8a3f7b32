"""No number is made by an operator whose bits depend on the vendor in portable arithmetic."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
ROOT_OF_A_TENSOR = re.compile(
    r"(?<!math)(?<!np)\.sqrt\(|torch\.(sqrt|rsqrt|corrcoef)\(|\*\* 0?\.5|\.pow\(0?\.5\)"
)
IN_FLOAT64 = "mean_square.sqrt()"
"""SCD's logged root, of a float64, which is rounded to fp32."""


def test_code_that_decides_numbers_takes_no_root_of_an_fp32_tensor() -> None:
    """MKL's compatible mode differs there between Intel and AMD (docs/arithmetic.md)."""
    files = [
        path
        for folder in ("methods", "harness/stages", "harness/tasks", "docs/examples")
        for path in sorted((ROOT / folder).rglob("*.py"))
    ]
    actual = [
        f"{path.relative_to(ROOT)}: {line.strip()}"
        for path in files
        for line in path.read_text(encoding="utf-8").splitlines()
        if ROOT_OF_A_TENSOR.search(line.replace(IN_FLOAT64, ""))
    ]
    assert len(files) > 100
    assert actual == []
