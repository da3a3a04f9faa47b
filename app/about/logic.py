"""Credits of the bundled weights; without Qt."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

from engine.backbones.bundled import BackboneChoice, offered_backbones
from engine.config import notice_path


@dataclass(frozen=True)
class WeightsCredit:
    """Origin and licence of a bundled backbone's weights."""

    choice: BackboneChoice  # setting that selects it
    name: str  # name in the library
    origin: str  # training data and its authors
    licence: str  # licence of the weights


Part = tuple[str, tuple[str, ...]]
"""Title and lines of a section of the notice."""


@dataclass(frozen=True)
class Credits:
    """Credits of the program.

    Attributes:
        weights: of the bundled backbones, from their cards.
        parts: sections of the NOTICE file; empty if it is missing.
    """

    weights: Sequence[WeightsCredit]
    parts: Sequence[Part] = ()


def read_credits() -> Credits:
    """Read backbone cards and the NOTICE file."""
    notice = ""
    with suppress(OSError, UnicodeDecodeError):
        notice = notice_path().read_text(encoding="utf-8")
    weights = [
        WeightsCredit(one.choice, one.name, one.card.training_data, one.card.licence)
        for one in offered_backbones()
    ]
    return Credits(weights, parts_of(notice))


def parts_of(notice: str) -> tuple[Part, ...]:
    """Sections of a notice: titles followed by indented lines, rejoined to whole sentences."""
    parts: list[Part] = []
    for block in notice.split("\n\n"):
        title, *rest = block.strip("\n").split("\n")
        if rest and all(line.startswith(" ") for line in rest):
            parts.append((title, tuple(_flowing(line.strip() for line in rest))))
    return tuple(parts)


def _flowing(lines: Iterable[str]) -> Iterator[str]:
    """Join lines up to the end of a sentence or a URL."""
    words: list[str] = []
    for line in lines:
        words.append(line)
        if line.endswith(".") or line.split()[-1].startswith("https://"):
            yield " ".join(words)
            words = []
    if words:
        yield " ".join(words)
