"""What a drop of classes would do, or why it is refused, in one sentence at the pointer: the same in every view."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from app.dragging import Dragged, DraggedClasses, DraggedImages, Places
from app.texts import fill, plural, shortened, tr
from app.wording import images
from engine.graph.placement import Obstacle

if TYPE_CHECKING:  # the window shows first
    from engine.graph.category_graph import CategoryGraph
    from engine.graph.placement import Refusal

STEPS_NAMED: Final = 4
"""Classes of a path that are named; of a longer one the middle is left out."""


def classes_text(count: int) -> str:
    return plural(count, "1 class", "%n classes")


def drop_text(graph: CategoryGraph, places: Places, to_parent: int | None, *, is_link: bool) -> str:
    """`Move under Oak`, `Move 3 classes under Oak`, `Add Oak as a parent of 3 classes`, `Move to the top level`."""
    count = len({class_id for class_id, _parent in places})
    if to_parent is None:
        return plural(count, "Move to the top level", "Move %n classes to the top level")
    name = shortened(graph.name(to_parent))
    if count == 1:
        return fill(tr("Add %1 as a parent") if is_link else tr("Move under %1"), name)
    template = tr("Add %2 as a parent of %1") if is_link else tr("Move %1 under %2")
    return fill(template, classes_text(count), name)


def dropped_text(graph: CategoryGraph, dragged: Dragged, class_id: int | None, *, is_link: bool) -> str:
    """What a drop on a class, or where no class stands (None), would do.

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
    return tr("New class with %1", images(count))


def refusal_text(graph: CategoryGraph, refusal: Refusal, to_parent: int | None) -> str:
    """Why a drop is refused; "" where it would change nothing, which says itself."""
    name = shortened(graph.name(refusal.class_id))
    place = "" if to_parent is None else shortened(graph.name(to_parent))
    match refusal.obstacle:
        case Obstacle.CYCLE:
            return tr("%1 cannot go below itself: %2", name, _path_text(graph, refusal.path))
        case Obstacle.ALREADY_THERE:
            return tr("%1 is already under %2", name, place)
        case Obstacle.OTHER_PARENTS:
            return tr("%1 has another parent; unlink it there first", name)
        case Obstacle.NAME_TAKEN if to_parent is None:
            return tr("There is already a class “%1” at the top level", name)
        case Obstacle.NAME_TAKEN:
            return tr("There is already a class “%1” under %2", name, place)
        case Obstacle.NOTHING_TO_DO:
            return ""


def _path_text(graph: CategoryGraph, path: tuple[int, ...]) -> str:
    """`Animal > Bird > Gull`."""
    names = [shortened(graph.name(class_id), 30) for class_id in path]
    if len(names) > STEPS_NAMED:
        names = [*names[: STEPS_NAMED // 2], "…", *names[-(STEPS_NAMED // 2) :]]
    return " > ".join(names)
