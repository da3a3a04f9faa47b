"""Texts about similar images."""

from collections.abc import Sequence
from pathlib import Path

from app.texts import tr
from app.wording import images, sentence
from engine.files import shown


def similar_title(names: Sequence[str]) -> str:
    """`Similar to IMG_012.jpg`, `Similar to 3 images`."""
    return tr("Similar to {1}", shown(names[0]) if len(names) == 1 else images(len(names)))


def by_similarity() -> str:
    return tr("By similarity")


def nothing_alike() -> str:
    return tr("Nothing to compare yet: this image has not been analysed.")


def unreadable(path: Path, reason: str) -> str:
    if not reason:
        return tr("{1} could not be read", shown(path.name))
    return sentence(tr("{1} could not be read: {2}", shown(path.name), shown(reason)))
