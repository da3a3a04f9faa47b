"""Three numbers in one field, as people copy them from a model's page. A point is the decimal sign, as it is there."""

import math
import re
from collections.abc import Sequence
from typing import Final

COLOURS: Final = 3
_SEPARATORS: Final = re.compile(r"[\s,;\[\]()]+")


def three_numbers(text: str) -> tuple[float, float, float]:
    """Read `0.485, 0.456, 0.406`, brackets and other separators allowed; one number stands for all three.

    Raises:
        ValueError: there are not three finite numbers.
    """
    values = [float(part) for part in _SEPARATORS.split(text) if part]
    if len(values) == 1:
        values *= COLOURS
    if len(values) != COLOURS or not all(map(math.isfinite, values)):
        raise ValueError(f"expected three numbers, found {text!r}")
    return values[0], values[1], values[2]


def numbers_text(values: Sequence[float]) -> str:
    """`0.485, 0.456, 0.406`: short, and read again as the same numbers."""
    return ", ".join(f"{value:g}" if float(f"{value:g}") == value else repr(float(value)) for value in values)
