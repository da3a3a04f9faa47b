"""What the drawing of the graph says."""

from __future__ import annotations

from app.texts import fill, plural, shortened, tr
from app.wording import SEPARATOR, images, number, percent


def classes(count: int) -> str:
    return plural(count, "1 class", "%n classes")


def shots(count: int) -> str:
    return plural(count, "1 example", "%n examples")


def card_counts(hidden: int, image_count: int, shot_count: int) -> tuple[str, str]:
    """The line below a class's name, and what follows where there is room.

    `1,203 classes` where they are folded into it, else `340 images` and ` · 5 shots`.
    """
    if hidden:
        return classes(hidden), f" · {images(image_count)}" if image_count else ""
    words = images(image_count) if image_count else tr("No images yet")
    return words, f" · {shots(shot_count)}" if shot_count else ""


def class_in_words(name: str, parents: list[str], hidden: int, image_count: int, shot_count: int) -> str:
    """What a screen reader says of a class."""
    parts = [name]
    parts.append(tr("under %1", ", ".join(parents)) if parents else tr("at the top level"))
    parts += [images(image_count), shots(shot_count)]
    if hidden:
        parts.append(tr("closed, %1 below", classes(hidden)))
    return ", ".join(parts)


def edge_text(child: str, shares: list[tuple[str, float]], own: float | None) -> str:
    """`Organ takes 62% from Keyboard Instrument, 38% from Wind Instrument`, and what its own shots weigh."""
    total = sum(share for _, share in shares)
    if total <= 0:
        return tr("Nothing is propagated to %1 yet: its parents have no images.", child)
    part = tr("%1 from %2")
    parts = ", ".join(fill(part, percent(share / total), name) for name, share in shares)
    words = tr("%1 takes %2", child, parts)
    if own is None:
        return words
    return words + SEPARATOR + tr("own examples weigh %1", percent(own))


def link_text(parent: str, child: str) -> str:
    return tr("Add %1 as a parent of %2", parent, child)


def found_text(place: int, count: int) -> str:
    """`2 of 14`, `No class`."""
    if not count:
        return tr("No class")
    return tr("%1 of %2", number(place), number(count))


def looking_around(name: str) -> str:
    return tr("Around %1", shortened(name, 28))


def decided_text(share: float) -> str:
    return tr("%1 decided: labelled, or sure down to a leaf", percent(share))
