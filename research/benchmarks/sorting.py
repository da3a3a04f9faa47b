"""Time of sorting names in a language's order, compared with natural order."""

import time
from dataclasses import dataclass
from random import Random

from PySide6.QtCore import QLocale

from app.language import language_names, name_key
from engine.collation import Key, in_order, natural_key

_WORDS = (
    "Schleie",
    "Äsche",
    "carpe à cuir",
    "ñandú",
    "Leaf",
    "мать-и-мачеха",
    "丁鱥",
    "キンギョ",
    "잉어",
)
_PLAIN = "plain order of characters"
_NATURAL = "natural, as on the command line"


@dataclass(frozen=True)
class SortingFigure:
    """Names of one kind in one order; the limit is natural order of the same names."""

    names: str
    order: str
    seconds: float
    limit_s: float | None

    @property
    def is_kept(self) -> bool:
        """Whether the limit is met."""
        return self.limit_s is None or self.seconds <= self.limit_s


def measure_sorting(count: int, rounds: int) -> tuple[SortingFigure, ...]:
    """Time keys and sorting together; the shortest of some rounds, orders in turn."""
    figures = list[SortingFigure]()
    for kind, names in _made(count).items():
        of_languages = {language: name_key(QLocale(language)) for language in language_names()}
        orders: dict[str, Key] = {_PLAIN: str, _NATURAL: natural_key, **of_languages}
        seconds = dict.fromkeys(orders, float("inf"))
        for _round in range(rounds):
            for order, key in orders.items():
                started_s = time.perf_counter()
                assert len(in_order(names, str, key)) == count
                seconds[order] = min(seconds[order], time.perf_counter() - started_s)
        for order in orders:
            limit_s = seconds[_NATURAL] if order in of_languages else None
            figures.append(SortingFigure(kind, order, seconds[order], limit_s))
    return tuple(figures)


def _made(count: int) -> dict[str, list[str]]:
    """Shuffled file names, the same in each run."""
    chance = Random(0)
    kinds = {
        "as from a camera": [f"IMG_{number:07d}.JPG" for number in range(count)],
        "words of several scripts": [
            f"{chance.choice(_WORDS)} {number}.jpg" for number in range(count)
        ],
        "hexadecimal digits": [f"{chance.getrandbits(128):032x}.jpg" for _number in range(count)],
    }
    for names in kinds.values():
        chance.shuffle(names)
    return kinds
