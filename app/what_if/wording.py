"""Texts about images that changed class, localized."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QLocale

from app.texts import fill, plural, shortened, tr
from app.wording import number, percent_to_a_tenth, titled
from engine.graph.codes import NO_CLASS, UNKNOWN
from engine.texts import paragraph

if TYPE_CHECKING:
    from engine.collection.state import ChangedImages, ClassMove
    from engine.review.what_if import HeldOutComparison

NameOf = Callable[[int], str]
LONGEST_TEXT = 120  # maximum length of an edit's text


def would_change_line(changes: ChangedImages) -> str:
    count, safe = changes.other_class, changes.other_safe_class
    if count:
        return plural(count, "1 image would change class", "{n} images would change class")
    if safe:
        return plural(
            safe,
            "1 prediction would change in confidence only",
            "{n} predictions would change in confidence only",
        )
    return tr("No image would change class")


def accuracy_line(found: HeldOutComparison | None) -> str:
    """`Accuracy on held-out labels: 81.2% → 83.0% (+1.8 points, between -0.4 and +4.0)`."""
    if found is None or not found.images:
        return tr("Too few labels to measure accuracy")
    low, high = found.interval
    text = tr("Accuracy on held-out labels: {1} → {2} ({3} points, between {4} and {5})")
    shares = (percent_to_a_tenth(count / found.images) for count in (found.before, found.after))
    return fill(text, *shares, *map(points, (found.gain, low, high)))


def basis_line(found: HeldOutComparison | None) -> str:
    if found is None or not found.images:
        return ""
    counted = plural(
        found.images,
        "Measured on 1 labelled image, held out of both models: {1} became right, {2} wrong.",
        "Measured on {n} labelled images, each held out of both models: {1} became right, "
        "{2} wrong.",
        *map(number, (found.gained, found.lost)),
    )
    safe = tr("Confident predictions: {1} → {2}, correct: {3} → {4}.")
    values = (
        found.named_before,
        found.named_after,
        found.named_rightly_before,
        found.named_rightly_after,
    )
    return paragraph(counted, fill(safe, *map(number, values)))


def points(gain: float) -> str:
    value = QLocale().toString(abs(100 * gain), "f", 1)
    if value == QLocale().toString(0.0, "f", 1):
        return value
    return f"+{value}" if gain > 0 else f"\N{MINUS SIGN}{value}"


def tried_line(edits: Sequence[str]) -> str:
    if len(edits) == 1:
        return tr("Not saved: {1}", shortened(edits[0], LONGEST_TEXT))
    return plural(len(edits), "1 change, not saved", "{n} changes, not saved")


def unknown_line(changes: ChangedImages, name_of: NameOf) -> str:
    """`Unknown went up by 82: 43 new labels of Fox changed what is expected`; "" if unchanged."""
    more = changes.more_unknown
    if not more:
        return ""
    went = tr("Unknown went up by {1}") if more > 0 else tr("Unknown went down by {1}")
    why = _labels_line(changes.new_labels, name_of)
    text = fill(went, number(abs(more)))
    return titled(text, why) if why else text


def _labels_line(new_labels: Sequence[tuple[int, int]], name_of: NameOf) -> str:
    count = sum(of_class for _class_id, of_class in new_labels)
    if not count:
        return ""
    if len(new_labels) > 1:
        return plural(
            count, "1 new label changed what is expected", "{n} new labels changed what is expected"
        )
    name = name_of(new_labels[0][0])
    return plural(
        count,
        "1 new label of {1} changed what is expected",
        "{n} new labels of {1} changed what is expected",
        name,
    )


def cause_line(texts: Sequence[str]) -> str:
    if len(texts) == 1:
        return tr("Last edit: {1}", shortened(texts[0], LONGEST_TEXT))
    return plural(len(texts), "By the last edit", "By the last {n} edits") if texts else ""


def class_text(class_id: int, name_of: NameOf) -> str:
    if class_id == UNKNOWN:
        return tr("unknown")
    return tr("no class") if class_id == NO_CLASS else name_of(class_id)


def move_text(move: ClassMove, name_of: NameOf) -> str:
    """`Apple → Pear`; with a prefix for safe classes."""
    if move.is_safe_class:
        none = tr("none")
        names = (
            none if each == NO_CLASS else class_text(each, name_of)
            for each in (move.before, move.after)
        )
        return tr("Confident: {1} → {2}", *names)
    return tr("{1} → {2}", class_text(move.before, name_of), class_text(move.after, name_of))


def move_facts(move: ClassMove, name_of: NameOf) -> str:
    """`Apple → Pear: 31 images`, for screen readers and tooltips."""
    count = len(move.image_ids)
    return plural(count, "{1}: 1 image", "{1}: {n} images", move_text(move, name_of))
