"""Whether a project's unlabelled and coarse-labelled images teach the model too."""

from typing import Final

from engine.project import Change, Project

COLLECTION_SETTING: Final = "collection"


def is_collection_on(project: Project) -> bool:
    """The project's setting "collection"; on unless a person switched it off."""
    return bool(project.setting(COLLECTION_SETTING, True))


def switch_collection(project: Project, *, is_on: bool) -> Change:
    """Let the unlabelled and coarse-labelled images teach the model, or not: one action that can be undone.

    Raises:
        ProjectReadOnlyError: the project is open for reading only.
    """
    text = "Let the collection teach" if is_on else "Stop the collection from teaching"
    with project.one_step(text) as step:
        project.set_setting(COLLECTION_SETTING, is_on)
    return step.change
