"""Whether a project's unlabelled and coarse-labelled images teach the model too."""

from typing import Final

from engine.project import Project

COLLECTION_SETTING: Final = "collection"


def is_collection_on(project: Project) -> bool:
    """The project's setting "collection"; on unless a person switched it off."""
    return bool(project.setting(COLLECTION_SETTING, True))
