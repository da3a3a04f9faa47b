"""Read names on the screen by comparing them with rendered text."""

from collections.abc import Iterator, Sequence
from functools import cache
from typing import final

import numpy as np
from numpy.typing import NDArray
from PySide6.QtGui import QColor, QFont, QFontMetrics, QImage, QPainter

from tests.robot.eyes import Picture

SIZES = (12, 13, 14)
WEIGHTS = (QFont.Weight.Normal, QFont.Weight.DemiBold)
WORD_GAP = 14
"""Pixels without ink after which another text begins, such as a percentage."""
FAINTEST = 0.3
LIKE_ENOUGH = 0.9
SLACK = 1

Ink = NDArray[np.float32]
"""0 for background, 1 for the strongest ink."""


@final
class PrintReader:
    """Find names in a screenshot.

    Args:
        names: all names that can occur.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self._names = tuple(names)

    def first_name(self, picture: Picture) -> str | None:
        """The first line that is one of the names up to the first gap, or None."""
        return next(self.names(picture), None)

    def names(self, picture: Picture) -> Iterator[str]:
        """The lines that are names, from top to bottom."""
        return (name for line in _lines(_ink_of(picture)) if (name := self._best(line)) is not None)

    def _best(self, line: Ink) -> str | None:
        similarity, name = max(
            (_similarity(line, letters), name) for name in self._names for letters in _printed(name)
        )
        return name if similarity >= LIKE_ENOUGH else None


def _ink_of(picture: Picture) -> Ink:
    grey = picture.astype(np.float32).mean(axis=2)
    away = np.abs(grey - np.median(grey))
    return (away / max(float(away.max()), 1.0)).astype(np.float32)


def _lines(ink: Ink) -> Iterator[Ink]:
    """The first text of each line, up to the first wide gap."""
    for first, last in _runs(ink.max(axis=1) > FAINTEST, gap=2):
        line = ink[first:last]
        runs = _runs(line.max(axis=0) > FAINTEST, gap=WORD_GAP)
        if runs:
            start, end = runs[0]
            yield _trimmed(line[:, start:end])


def _runs(there: NDArray[np.bool_], gap: int) -> list[tuple[int, int]]:
    """Ranges of true values; those closer than `gap` are merged."""
    runs: list[tuple[int, int]] = []
    for place in np.flatnonzero(there).tolist():
        if runs and place - runs[-1][1] < gap:
            runs[-1] = runs[-1][0], place + 1
        else:
            runs.append((place, place + 1))
    return runs


def _trimmed(ink: Ink) -> Ink:
    rows, columns = (
        np.flatnonzero(ink.max(axis=1) > FAINTEST),
        np.flatnonzero(ink.max(axis=0) > FAINTEST),
    )
    cut = ink[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    return cut / max(float(cut.max()), 1e-6)


@cache
def _printed(name: str) -> tuple[Ink, ...]:
    """A name rendered in each size and weight."""
    return tuple(_print(name, size, weight) for size in SIZES for weight in WEIGHTS)


def _print(name: str, size: int, weight: QFont.Weight) -> Ink:
    font = QFont()
    font.setPixelSize(size)
    font.setWeight(weight)
    image = QImage(
        QFontMetrics(font).horizontalAdvance(name) + 20, 3 * size, QImage.Format.Format_Grayscale8
    )
    image.fill(QColor("white"))
    painter = QPainter(image)
    painter.setFont(font)
    painter.setPen(QColor("black"))
    painter.drawText(10, 2 * size, name)
    painter.end()
    pixels = np.frombuffer(image.constBits(), np.uint8).reshape(
        image.height(), image.bytesPerLine()
    )
    return _trimmed(_ink_of(np.repeat(pixels[:, : image.width(), None], 3, axis=2)))


def _similarity(line: Ink, letters: Ink) -> float:
    """1 for equal pictures; 0 if sizes differ by more than a pixel."""
    if (
        max(abs(here - there) for here, there in zip(line.shape, letters.shape, strict=True))
        > SLACK
    ):
        return 0.0
    height, width = (
        max(here, there) for here, there in zip(line.shape, letters.shape, strict=True)
    )
    return max(
        float((_placed(line, height, width) * _placed(letters, height, width, down, right)).sum())
        for down in range(height - letters.shape[0] + 1)
        for right in range(width - letters.shape[1] + 1)
    )


def _placed(ink: Ink, height: int, width: int, down: int = 0, right: int = 0) -> Ink:
    """Place ink on a background of a given size; normalised to length 1."""
    ground = np.zeros((height, width), np.float32)
    ground[down : down + ink.shape[0], right : right + ink.shape[1]] = ink
    return ground / np.linalg.norm(ground)
