"""What a project says about classifying: the setting, the collection stage, bars and deepest classes."""

from typing import Final

from engine.everyday.back_off import Policy
from engine.everyday.classifier import Setting
from engine.project import Change, Project
from engine.project.actions import action

SETTING_NAME: Final = "setting"
STAGE_SETTING: Final = "collection"


def setting_of(project: Project) -> Setting:
    """PPN+ unless the project says otherwise."""
    return Setting(str(project.policies.setting(SETTING_NAME, Setting.PPN_PLUS.value)))


def is_stage_on(project: Project) -> bool:
    """Whether unlabelled and coarse-labelled images teach the model too: they do unless a person switched it off."""
    return bool(project.policies.setting(STAGE_SETTING, True))


def switch_stage(project: Project, *, is_on: bool) -> Change:
    """Switch the collection stage on or off: one action that can be undone.

    Raises:
        ProjectReadOnlyError: the project is open for reading only.
    """
    with project.history.one_step(action("stage_turned_on" if is_on else "stage_turned_off")) as step:
        project.policies.set_setting(STAGE_SETTING, is_on)
    return step.change


def policies_of(project: Project) -> dict[int, Policy]:
    """Bars and deepest classes by class id, as the everyday model takes them."""
    return {class_id: Policy(policy.bar, policy.is_deepest) for class_id, policy in project.policies.by_class().items()}
