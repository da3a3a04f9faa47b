"""When are two names one name, spelled otherwise?"""

import difflib
import re
import unicodedata
from typing import Final

ALIKE: Final = 0.85
"""Of letters in common from which names count as one: "Blackbird" and "Blackbirds", not "male" and "female"."""

SHORTEST: Final = 6
"""Letters from which that says anything."""

_WORD: Final = re.compile(r"[^\W_]+")
_DIGITS: Final = re.compile(r"\d+")


def words(name: str) -> frozenset[str]:
    """The words of a name, whatever their case and accents."""
    return frozenset(_WORD.findall(_plain(name)))


def spelling(name: str) -> str:
    """A name without case, accents, blanks and punctuation: "Granny-Smith" and "granny smith" are the same."""
    return "".join(_WORD.findall(_plain(name)))


def alike_names(one: str, other: str) -> float:
    """How alike two names are, 0 where they are rather two names: "Gull 1" is never "Gull 2"."""
    first, second = spelling(one), spelling(other)
    if not first or not second or _DIGITS.findall(one) != _DIGITS.findall(other):
        return 0.0
    if first == second:
        return 1.0
    if min(len(first), len(second)) < SHORTEST or first[0] != second[0]:
        return 0.0
    compared = difflib.SequenceMatcher(None, first, second, autojunk=False)
    alike = compared.ratio() if compared.quick_ratio() >= ALIKE else 0.0
    return alike if alike >= ALIKE else 0.0


def _plain(name: str) -> str:
    decomposed = unicodedata.normalize("NFKD", name.casefold())
    return "".join(letter for letter in decomposed if not unicodedata.combining(letter))
