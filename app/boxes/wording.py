"""Texts about detected boxes."""

from collections.abc import Sequence

from app.texts import plural, tr
from app.wording import images, number, percent
from engine.texts import paragraph

THRESHOLDS = (20, 50, 80)
"""In percent. Chosen: the advice of MegaDetector's authors, and two that leave less to check."""


def threshold_choices(counts: Sequence[tuple[int, int]]) -> list[tuple[int, str]]:
    """Thresholds in percent with texts (`50%: 640 boxes`); empty and equal ones are omitted."""
    found: list[tuple[int, str]] = []
    before = -1
    for threshold in THRESHOLDS:
        boxes = counts[threshold][0]
        if boxes not in {0, before}:
            text = plural(boxes, "%1: 1 box", "%1: %n boxes", percent(threshold / 100))
            found.append((threshold, text))
        before = boxes
    return found


def found_text(counts: Sequence[tuple[int, int]], pictures: int, failures: int) -> str:
    """`Things were found in 280 of 300 images. Which boxes become images to label?`."""
    with_things = counts[THRESHOLDS[0]][1]
    unread = (
        plural(failures, "1 image could not be read.", "%n images could not be read.")
        if failures
        else ""
    )
    return paragraph(
        tr("Things were found in %1 of %2.", number(with_things), images(pictures)),
        unread,
        tr("Add the boxes with a score of at least:"),
    )
