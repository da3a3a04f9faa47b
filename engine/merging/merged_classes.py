"""Class pairs of earlier merges, by the identity of their class.

They keep a class that was removed here from being merged again, and match one that was renamed or
moved. They are stored in settings of the project, so that undo reverts them with the classes; in
several, since a setting is limited to a million characters.
"""

from collections.abc import Mapping

from engine.graph.category_graph import CategoryGraph
from engine.project import ClassId, Project

_KEY_DIGITS = 20  # of an identity; enough to be unique
_PARTS = tuple(f"{number:02x}" for number in range(256))  # settings, by the first digits


def classes_merged(project: Project, theirs: CategoryGraph) -> dict[ClassId, ClassId]:
    """Our class by theirs, from earlier merges; our class may have been removed since."""
    known: dict[str, ClassId] = {}
    for part in _PARTS:
        known |= project.policies.setting(_name(part), {})
    if not known:
        return {}
    found = (
        (their_id, known.get(identity[:_KEY_DIGITS]))
        for identity, their_id in theirs.by_identity().items()
    )
    return {their_id: our_id for their_id, our_id in found if our_id is not None}


def remember_merged(
    project: Project, theirs: CategoryGraph, pairs: Mapping[ClassId, ClassId]
) -> None:
    """Store pairs of their class and ours; within an open step."""
    by_part: dict[str, dict[str, ClassId]] = {}
    for identity, their_id in theirs.by_identity().items():
        if their_id in pairs:
            by_part.setdefault(identity[:2], {})[identity[:_KEY_DIGITS]] = pairs[their_id]
    for part, added in by_part.items():
        known = project.policies.setting(_name(part), {})
        project.policies.set_setting(_name(part), {**known, **added})


def _name(part: str) -> str:
    return f"merged classes {part}"
