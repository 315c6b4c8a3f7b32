"""The only place where a number in points takes the scale of its table."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Format:
    """How the numbers of a column are shown. scale: shown score = raw score x scale.

    plain: settings and counts, which have no scale and are shown with all their digits.
    """

    scale: float = 100.0
    decimals: int = 2
    plain: bool = False

    def number(self, points: float) -> float:
        """Returns a number in the scale of its table, unrounded."""
        return points if self.plain else points / (100 / self.scale)

    def show(self, points: float) -> str:
        """Returns a number as text, with the decimals of its table."""
        return f"{points:.10g}" if self.plain else f"{self.number(points):.{self.decimals}f}"

    def signed(self, points: float) -> str:
        """Returns a difference as text, with its sign and a true minus."""
        shown = f"{points:+.10g}" if self.plain else f"{self.number(points):+.{self.decimals}f}"
        return shown.replace("-", "−")
