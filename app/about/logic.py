"""Origin and licence of the weights that ship with the program; without Qt."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

from engine.backbones.bundled import BackboneChoice, offered_backbones
from engine.config import notice_path


@dataclass(frozen=True)
class WeightsCredit:
    """Where a bundled backbone's weights come from."""

    choice: BackboneChoice  # what it is offered as
    name: str  # in the library
    origin: str  # what it was trained on, and by whom
    licence: str  # of the weights


Part = tuple[str, tuple[str, ...]]
"""What a part of the notice is about, and its lines."""


@dataclass(frozen=True)
class Credits:
    """What the program owes to others.

    Attributes:
        weights: of the bundled backbones, as their cards say.
        parts: the same as the file NOTICE says, in full; none where it does not lie beside the program.
    """

    weights: Sequence[WeightsCredit]
    parts: Sequence[Part] = ()


def read_credits() -> Credits:
    """Read cards and notice from the disk."""
    notice = ""
    with suppress(OSError, UnicodeDecodeError):
        notice = notice_path().read_text(encoding="utf-8")
    weights = [
        WeightsCredit(one.choice, one.name, one.card.training_data, one.card.licence)
        for one in offered_backbones()
    ]
    return Credits(weights, parts_of(notice))


def parts_of(notice: str) -> tuple[Part, ...]:
    """The parts of a notice that have a title with indented lines below it; each sentence's end begins a new line."""
    parts: list[Part] = []
    for block in notice.split("\n\n"):
        title, *rest = block.strip("\n").split("\n")
        if rest and all(line.startswith(" ") for line in rest):
            parts.append((title, tuple(_flowing(line.strip() for line in rest))))
    return tuple(parts)


def _flowing(lines: Iterable[str]) -> Iterator[str]:
    """Lines put together to the end of a sentence or to an address."""
    words: list[str] = []
    for line in lines:
        words.append(line)
        if line.endswith(".") or line.split()[-1].startswith("https://"):
            yield " ".join(words)
            words = []
    if words:
        yield " ".join(words)
