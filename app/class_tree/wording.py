"""What a drop on the classes would do, in a few words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.class_drops import drop_text
from app.dragging import Dragged, DraggedClasses, DraggedImages
from app.session.subsets import Subset
from app.texts import plural, tr
from app.wording import images, percent

if TYPE_CHECKING:  # the window shows first
    from engine.graph.category_graph import CategoryGraph


def drop_here(graph: CategoryGraph, dragged: Dragged, class_id: int | None, *, is_link: bool) -> str:
    """What a drop on a class, or below all of them (None), would do.

    `Label 12 images as Oak`, `New class with 12 images`, `Add and label as Oak`, `Move under Oak`.
    """
    if isinstance(dragged, DraggedClasses):
        return drop_text(graph, dragged.places, class_id, is_link=is_link)
    name = "" if class_id is None else graph.name(class_id)
    if isinstance(dragged, DraggedImages):
        count = len(dragged.image_ids)
        return new_class_text(count) if class_id is None else tr("Label %1 as %2", images(count), name)
    return tr("Add and label as %1", name)


def new_class_text(count: int) -> str:
    """`New class with 12 images`."""
    return tr("New class with %1", images(count))


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
