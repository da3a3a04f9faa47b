"""What a person says about images: each function is one action on the session."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from app.palette.logic import CreateChoice
from engine.project.actions import action

if TYPE_CHECKING:
    from app.session import Session
    from engine.project import Change, Project


def label_groups(session: Session, groups: Mapping[int, Sequence[int]]) -> list[int]:
    """Label images of several classes as one action.

    Args:
        session: the session.
        groups: images by class.

    Returns:
        the images that get a label.
    """
    if groups:
        session.label_groups(groups, lambda project: _label_groups(project, groups))
    return [image_id for group in groups.values() for image_id in group]


def create_and_label(project: Project, choice: CreateChoice, image_ids: Sequence[int]) -> Change:
    """Make a class with its first shots, as one action of the project."""
    with project.history.one_step(action("class_created", choice.name, images=len(image_ids))) as step:
        _, class_id = project.classes.add(choice.name, () if choice.parent_id is None else (choice.parent_id,))
        project.labels.set(image_ids, class_id)
    return step.change


def _label_groups(project: Project, groups: Mapping[int, Sequence[int]]) -> Change:
    if len(groups) == 1:
        class_id, image_ids = next(iter(groups.items()))
        return project.labels.set(image_ids, class_id)
    count = sum(map(len, groups.values()))
    with project.history.one_step(action("predictions_accepted", images=count, classes=len(groups))) as step:
        for class_id, image_ids in groups.items():
            project.labels.set(image_ids, class_id)
    return step.change
