"""Classes that came in by an earlier merge: remembered, so that one renamed, moved or removed here does not come again.

Settings of the project, which undo takes back together with the classes; several, since one takes a million characters.
"""

from collections.abc import Mapping
from typing import Final

from blake3 import blake3

from engine.graph.category_graph import CategoryGraph
from engine.project import ClassId, Project

KEY_DIGITS: Final = 12
_DIGITS: Final = "0123456789abcdef"


def classes_merged(project: Project, theirs: Project) -> dict[ClassId, ClassId]:
    """Our class of each of theirs that came in earlier, also of one that was removed here since."""
    known: dict[str, ClassId] = {}
    for digit in _DIGITS:
        known |= project.policies.setting(_name(digit), {})
    if not known:
        return {}
    graph, project_id = theirs.classes.graph, theirs.backups.project_id
    keys = ((each, _key(project_id, each, graph)) for each in graph.classes())
    return {class_id: known[key] for class_id, key in keys if key in known}


def remember_merged(project: Project, theirs: Project, new: Mapping[ClassId, ClassId]) -> None:
    """Remember which of their classes became which new ones here; within an open step."""
    graph, project_id = theirs.classes.graph, theirs.backups.project_id
    by_digit: dict[str, dict[str, ClassId]] = {}
    for their_id, our_id in new.items():
        key = _key(project_id, their_id, graph)
        by_digit.setdefault(key[0], {})[key] = our_id
    for digit, added in by_digit.items():
        project.policies.set_setting(_name(digit), {**project.policies.setting(_name(digit), {}), **added})


def _key(project_id: str, class_id: ClassId, graph: CategoryGraph) -> str:
    """Copies of one project give one number to different classes, so the name belongs to it."""
    text = f"{project_id} {class_id} {graph.name(class_id)}"
    return blake3(text.encode()).hexdigest()[:KEY_DIGITS]


def _name(digit: str) -> str:
    return f"merged classes {digit}"
