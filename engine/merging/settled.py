"""Settled conflicts: the decision becomes a label, and is stored so that it is asked only once.

It is stored in a setting for each image, so that one undo reverts it together with the label.
"""

from collections.abc import Mapping
from typing import NamedTuple

from engine.graph.codes import EMPTY, UNKNOWN
from engine.merging.merge_plan import CommentConflict, Conflict, Side, Verdict
from engine.project import Change, ClassId, ImageId, Project
from engine.project.actions import action
from engine.project.clock import time_text
from engine.project.records import Label, Note

SOURCE = "merge"  # source of labels that settled a conflict
_WITHOUT_CLASS = {UNKNOWN: "conflict_settled_as_none", EMPTY: "conflict_settled_as_empty"}


class Settled(NamedTuple):
    """State of a conflict when it was settled."""

    code: int  # our class before, or `UNKNOWN` or `EMPTY`
    is_update: bool  # see `Conflict`


def settle(
    project: Project, conflict: Conflict, choice: Verdict, class_id: ClassId = UNKNOWN
) -> Change:
    """Settle a conflict as one undoable step; the label is by the current user.

    Args:
        class_id: the class for `Verdict.OTHER`, or `UNKNOWN` or `EMPTY`.

    Raises:
        UnknownClassError: there is no such class.
        InputError: the image was removed.
    """
    decided = {Verdict.OURS: conflict.ours.code, Verdict.THEIRS: conflict.theirs.code}.get(
        choice, class_id
    )
    with project.history.one_step() as step:
        if decided != conflict.ours.code:
            project.labels.set([conflict.image_id], decided, source=SOURCE)
        if choice is Verdict.OURS:
            project.labels.confirm([conflict.image_id])
        remember(project, conflict)
        if decided in _WITHOUT_CLASS:
            step.action = action(_WITHOUT_CLASS[decided])
        else:
            step.action = action("conflict_settled", project.classes.graph.name(decided))
    return step.change


def settle_comment(project: Project, conflict: CommentConflict, choice: Verdict) -> Change:
    """Settle a conflict of comments as one undoable step; `Verdict.OTHER` joins both."""
    ours, theirs = conflict.ours.comment, conflict.theirs.comment
    comment = {Verdict.OURS: ours, Verdict.THEIRS: theirs}.get(choice, f"{ours}\n{theirs}")
    with project.history.one_step(action("comment_settled")) as step:
        project.notes.set_comment([conflict.image_id], comment)
        name = name_of_comment(conflict.image_id)
        known = project.policies.setting(name, [])
        project.policies.set_setting(name, [*known, _key(conflict.theirs)])
    return step.change


def is_comment_settled(project: Project, theirs: Note) -> bool:
    """Whether the conflict with their comment on an image of ours is settled."""
    return _key(theirs) in project.policies.setting(name_of_comment(theirs.image_id), [])


def take_theirs(project: Project, conflict: Conflict) -> None:
    """Replace our label by theirs, with annotator and time; within an open step."""
    theirs = conflict.theirs
    project.labels.remove([conflict.image_id])
    is_empty = theirs.code == EMPTY
    label = Label(
        conflict.image_id, theirs.class_id, theirs.who, theirs.when, SOURCE, is_empty=is_empty
    )
    project.labels.add_missing([label])
    remember(project, conflict)


def remember(project: Project, conflict: Conflict) -> None:
    """Store that a conflict is settled, and our class before; within an open step."""
    known = _known(project, conflict.image_id)
    ours = conflict.ours.code
    settled = [None if ours == UNKNOWN else ours, conflict.is_update]
    project.policies.set_setting(
        name_of_label(conflict.image_id), {**known, _key(conflict.theirs): settled}
    )


def settled_conflict(project: Project, image_id: ImageId, theirs: Label) -> Settled | None:
    """Our class when the conflict with their label was settled; None if it is open."""
    known, key = _known(project, image_id), _key(theirs)
    if key not in known:
        return None
    code, is_update = known[key]
    return Settled(UNKNOWN if code is None else code, is_update)


def _known(project: Project, image_id: ImageId) -> Mapping[str, tuple[ClassId | None, bool]]:
    found: Mapping[str, tuple[ClassId | None, bool]] = project.policies.setting(
        name_of_label(image_id), {}
    )
    return found


def name_of_label(image_id: ImageId) -> str:
    """The setting with settled labels of an image."""
    return f"settled conflict {image_id}"


def name_of_comment(image_id: ImageId) -> str:
    """The setting with settled comments on an image."""
    return f"settled comment {image_id}"


def _key(theirs: Side | Label | Note) -> str:
    return f"{time_text(theirs.when)} {theirs.who}"
