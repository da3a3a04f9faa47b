"""What imported taxonomies said last time, kept in the project: the base that their next version is compared with.

It is kept as settings, which undo takes back together with the import that they belong to.
"""

from typing import Final

from engine.errors import ProjectDamagedError
from engine.interchange.versions.source_version import SourceVersion, unpacked
from engine.project import Project

SETTING: Final = "imported taxonomies"
"""How many parts each of them has."""

PART_LENGTH: Final = 900_000
"""Characters of one part; a setting takes a million. WordNet's 82,115 classes make two parts."""


def known_sources(project: Project) -> list[SourceVersion]:
    """All of them, the one that was imported first comes first.

    Raises:
        ProjectDamagedError: one of them cannot be read.
    """
    return [
        unpacked("".join(_part(project, number, part) for part in range(parts)))
        for number, parts in enumerate(_parts(project))
    ]


def remember(project: Project, version: SourceVersion, *, in_place_of: SourceVersion | None) -> None:
    """Keep what a source says now; within an open step of the project.

    Args:
        project: open for writing.
        version: what it says.
        in_place_of: the earlier version of the same source, one of `known_sources`; None for a source that is new.
    """
    counts = _parts(project)
    number = len(counts) if in_place_of is None else known_sources(project).index(in_place_of)
    text = version.packed()
    parts = [text[start : start + PART_LENGTH] for start in range(0, len(text), PART_LENGTH)]
    surplus = range(len(parts), counts[number]) if number < len(counts) else range(0)
    for part, content in enumerate(parts):
        project.policies.set_setting(_name(number, part), content)
    for part in surplus:
        project.policies.set_setting(_name(number, part), None)
    project.policies.set_setting(SETTING, [*counts[:number], len(parts), *counts[number + 1 :]])


def _parts(project: Project) -> list[int]:
    return [int(each) for each in project.policies.setting(SETTING, [])]


def _part(project: Project, number: int, part: int) -> str:
    found = project.policies.setting(_name(number, part))
    if not isinstance(found, str):
        raise ProjectDamagedError(
            "a part of what an imported taxonomy said last time is missing",
            found="{name} in {project_path}",
            remedy="open an earlier copy of the file, or restore a backup",
            name=_name(number, part),
            project_path=project.path,
        )
    return found


def _name(number: int, part: int) -> str:
    return f"imported taxonomy {number}.{part}"
