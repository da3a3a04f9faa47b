"""What a person says about images: each function is one action on the session."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from app.texts import fill, translate
from app.wording import images
from engine.collection.state import NO_CLASS

if TYPE_CHECKING:
    from app.session import Session
    from engine.project import Change, Project


def label_as(session: "Session", image_ids: Sequence[int], class_id: int | None) -> None:
    """Label images as a class; None says "none of the classes"."""
    if image_ids:
        session.act(lambda project: project.label(image_ids, class_id))


def unlabel(session: "Session", image_ids: Sequence[int]) -> None:
    """Take a person's labels off."""
    if image_ids:
        session.act(lambda project: project.unlabel(image_ids))


def accept(session: "Session", image_ids: Sequence[int], *, safe: bool = False) -> list[int]:
    """Label images as what is predicted for each; images without a prediction stay as they are.

    Args:
        session: the session.
        image_ids: images to accept.
        safe: take the safe class, not the likeliest leaf.

    Returns:
        the images that get a label.
    """
    state = session.state
    if state is None:
        return []
    predicted = state.safe_class if safe else np.where(state.is_unknown, NO_CLASS, state.best_class)
    groups: dict[int, list[int]] = {}
    for image_id in image_ids:
        place = state.position(image_id)
        if state.label_class[place] == NO_CLASS and predicted[place] != NO_CLASS:
            groups.setdefault(int(predicted[place]), []).append(image_id)
    if groups:
        session.act(lambda project: _label_groups(project, groups))
    return [image_id for group in groups.values() for image_id in group]


def _label_groups(project: "Project", groups: dict[int, list[int]]) -> "Change":
    if len(groups) == 1:
        class_id, image_ids = next(iter(groups.items()))
        return project.label(image_ids, class_id)
    count = sum(map(len, groups.values()))
    text = fill(translate("labelling", "Accept %1 in %2 classes"), images(count), str(len(groups)))
    with project.one_step(text) as step:
        for class_id, image_ids in groups.items():
            project.label(image_ids, class_id)
    return step.change
