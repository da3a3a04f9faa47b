"""Classes of others that an earlier merge matched or brought in, by their identity.

So that one removed here does not come again, and one matched by its path is known when it was
renamed or moved since. Settings of the project, which undo takes back together with the classes;
several, since one takes a million characters.
"""

from collections.abc import Mapping
from typing import Final

from engine.graph.category_graph import CategoryGraph
from engine.project import ClassId, Project

_KEY_DIGITS: Final = 20  # of an identity: enough to tell classes apart
_PARTS: Final = tuple(f"{number:02x}" for number in range(256))  # settings, by the first digits


def classes_merged(project: Project, theirs: CategoryGraph) -> dict[ClassId, ClassId]:
    """Our class of each of theirs that is known from earlier, also of one that was removed here since."""
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
    """Remember which of their classes are which ones here; within an open step."""
    by_part: dict[str, dict[str, ClassId]] = {}
    for identity, their_id in theirs.by_identity().items():
        if their_id in pairs:
            by_part.setdefault(identity[:2], {})[identity[:_KEY_DIGITS]] = pairs[their_id]
    for part, added in by_part.items():
        known = project.policies.setting(_name(part), {})
        project.policies.set_setting(_name(part), {**known, **added})


def _name(part: str) -> str:
    return f"merged classes {part}"
