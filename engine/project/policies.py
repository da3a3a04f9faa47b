"""How sure the program must be of each class, and the project's named settings."""

from dataclasses import replace
from typing import Any, final

from engine.errors import InputError
from engine.project.actions import action
from engine.project.change import Change
from engine.project.graph_rows import class_name
from engine.project.model_rows import MODEL_SETTING
from engine.project.policy_rows import put_setting, setting
from engine.project.records import ClassId, ClassPolicy
from engine.project.store import ProjectStore


@final
class ProjectPolicies:
    """The policies and settings of a project."""

    def __init__(self, store: ProjectStore) -> None:
        self._store = store

    def by_class(self) -> dict[ClassId, ClassPolicy]:
        """Policies of the classes that have one of their own."""
        attributes = self._store.graph.all_attributes()
        policies = ((class_id, ClassPolicy(each.bar, each.is_deepest)) for class_id, each in attributes)
        return {class_id: policy for class_id, policy in policies if policy != ClassPolicy()}

    def set(self, class_id: ClassId, policy: ClassPolicy) -> Change:
        """Set how sure the program must be of a class, for it and all below that say nothing else.

        Raises:
            UnknownClassError: there is no such class.
            InputError: the bar is no probability.
        """
        known = self.by_class().get(class_id, ClassPolicy())
        name = class_name(self._store.connection, class_id)
        stop = "predictions_stopped" if policy.is_deepest else "predictions_allowed"
        code = stop if policy.bar == known.bar else "threshold_changed"
        wanted = replace(self._store.graph.attributes(class_id), bar=policy.bar, is_deepest=policy.is_deepest)
        return self._store.edit_graph(lambda graph: graph.set_attributes(class_id, wanted), action(code, name))

    def setting(self, name: str, default: Any = None) -> Any:
        """A named setting, or the default where it is not set.

        Raises:
            ProjectDamagedError: the stored value cannot be read.
        """
        return setting(self._store.connection, name, default)

    def set_setting(self, name: str, value: Any) -> Change:
        """Set a named setting of the project.

        Args:
            name: the setting.
            value: plain JSON values; None takes the setting away.

        Raises:
            InputError: the value is not plain, or the name belongs to `ProjectModels.choose`.
        """
        if name == MODEL_SETTING:
            raise InputError("the model version is chosen, not set", found=name)
        with self._store.one_step(action("setting_changed", setting=name)) as step:
            put_setting(step, name, value)
        return step.change
