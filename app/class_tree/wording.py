"""What was set for a class, and what a drop on a fixed row would do, in a few words."""

from __future__ import annotations

from app.dragging import Dragged, DraggedImages
from app.session.subsets import Subset
from app.texts import plural, tr
from app.wording import images, percent


def policy_lines(bar: float | None, *, is_deepest: bool) -> list[str]:
    """What was set for a class itself, in sentences."""
    lines = [] if bar is None else [tr("Confidence needed here and below: %1", percent(bar))]
    return [*lines, tr("Predictions stop at this class")] if is_deepest else lines


def drop_on_subset(dragged: Dragged, subset: Subset) -> str:
    """`Label 12 images as none of the classes`, `Remove the labels of 12 images`; "" where a drop means nothing."""
    if not isinstance(dragged, DraggedImages):
        return ""
    count = len(dragged.image_ids)
    if subset is Subset.UNKNOWN:
        return tr("Label %1 as none of the classes", images(count))
    if subset is Subset.TO_REVIEW:
        return plural(count, "Remove the label of 1 image", "Remove the labels of %n images")
    return ""
