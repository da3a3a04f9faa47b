"""Why a key cannot do what it stands for, in the person's language."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.texts import tr
from app.wording import number, percent
from engine.collection.state import NO_CLASS, UNKNOWN, CollectionState, ImageStatus

if TYPE_CHECKING:  # the window shows first
    from engine.graph.category_graph import CategoryGraph


def nothing_to_accept(graph: CategoryGraph, state: CollectionState, place: int) -> str:
    """Why there is no class to accept for the image at a place of the state."""
    label = int(state.label_class[place])
    if label == UNKNOWN:
        return tr("This image is labelled already: none of the classes.")
    if label != NO_CLASS:
        name = graph.name(label) if label in graph else tr("a removed class")
        return tr("This image is labelled already: %1.", name)
    if state.status[place] == ImageStatus.FAILED:
        return tr("Nothing to accept: this file could not be read.")
    if state.status[place] == ImageStatus.WAITING:
        return tr("Nothing to accept yet: this image has not been read.")
    return tr("Nothing to accept yet: label an image of some class first.")


def none_sure_enough(count: int, threshold: float) -> str:
    """Nothing of what is selected can be accepted at this threshold."""
    return tr(
        "None of the %1 selected images has an unlabelled prediction above %2.", number(count), percent(threshold)
    )


def no_such_digit(digit: int, *, is_complete: bool) -> str:
    """No class stands behind a digit key, or none yet."""
    if not is_complete:
        return tr("Prediction %1 is not shown yet. Press the key again in a moment.", str(digit))
    return tr("No class has the key %1 for this image. Press R to label it as any class.", str(digit))
