"""Boxes of a picture, and texts about detected ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from app.image_view.box_layer import ShownBox
from app.texts import plural, tr
from app.wording import images, number, percent
from engine.collection.state import EMPTY, NO_CLASS, UNKNOWN
from engine.file_parts import BoundingBox, file_part
from engine.texts import paragraph

if TYPE_CHECKING:
    from engine.collection.state import CollectionState
    from engine.graph.category_graph import CategoryGraph


def things_of(state: CollectionState, image_id: int) -> list[int]:
    """Ids of boxes and further things in an image's picture: left to right, then without a box."""
    parts = {each: file_part(part) for each, part in state.items_of_file(image_id).items()}
    picture = parts[image_id].picture
    found = [each for each, part in parts.items() if part.picture == picture and part != picture]
    no_box = BoundingBox(2.0, 0.0, 0.0, 0.0)
    return sorted(
        found,
        key=lambda each: ((parts[each].box or no_box).left, (parts[each].box or no_box).top, each),
    )


def next_thing(state: CollectionState, image_id: int) -> int:
    """Number of the next further thing without a box in the picture."""
    parts = map(file_part, state.items_of_file(image_id).values())
    return max((part.thing or 1 for part in parts), default=1) + 1


def shown_boxes(
    state: CollectionState, graph: CategoryGraph, image_ids: Sequence[int]
) -> list[ShownBox]:
    """Boxes among these images, each with its class or the most likely one."""
    found = []
    for image_id in image_ids:
        place = state.position(image_id)
        box = file_part(state.source_at(place).part).box
        if box is not None:
            is_labelled = bool(state.label_class[place] != NO_CLASS)
            found.append(ShownBox(image_id, box, thing_text(state, graph, place), is_labelled))
    return found


def thing_text(state: CollectionState, graph: CategoryGraph, place: int) -> str:
    """Label of an image (`Fox`), else its most likely class (`Fox 83%`) or detector category."""
    label, best = int(state.label_class[place]), int(state.best_class[place])
    if label == EMPTY:
        return tr("Empty")
    if label == UNKNOWN:
        return tr("None of the classes")
    if label in graph:
        return graph.shown_name(label)
    if best in graph:
        return f"{graph.shown_name(best)} {percent(float(state.best_score[place]))}"
    found = state.detections.get(int(state.image_ids[place]))
    return "" if found is None else found.category


THRESHOLDS = (20, 50, 80)
"""In percent. Chosen: the advice of MegaDetector's authors, and two that leave less to check."""


def threshold_choices(counts: Sequence[tuple[int, int]]) -> list[tuple[int, str]]:
    """Thresholds in percent with texts (`50%: 640 boxes`); empty and equal ones are omitted."""
    found: list[tuple[int, str]] = []
    before = -1
    for threshold in THRESHOLDS:
        boxes = counts[threshold][0]
        if boxes not in {0, before}:
            text = plural(boxes, "{1}: 1 box", "{1}: {n} boxes", percent(threshold / 100))
            found.append((threshold, text))
        before = boxes
    return found


def found_text(counts: Sequence[tuple[int, int]], pictures: int, failures: int) -> str:
    """`Things were found in 280 of 300 images. Which boxes become images to label?`."""
    with_things = counts[THRESHOLDS[0]][1]
    unread = (
        plural(failures, "1 image could not be read.", "{n} images could not be read.")
        if failures
        else ""
    )
    return paragraph(
        tr("Things were found in {1} of {2}.", number(with_things), images(pictures)),
        unread,
        tr("Add the boxes with a score of at least:"),
    )
