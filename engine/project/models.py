"""Model versions of a project, their files and predictions; class policies and settings."""

from collections.abc import Iterable
from dataclasses import asdict, replace
from typing import Any, final

from engine.errors import InputError
from engine.graph.limits import DEEPEST_LEVEL
from engine.project.actions import Action, action
from engine.project.backups.place import BackupReason
from engine.project.change import Change
from engine.project.graph_rows import class_name
from engine.project.model_rows import (
    MODEL_SETTING,
    chosen_version_id,
    insert_trained,
    insert_version,
    model_file,
    model_version,
    model_versions,
    put_setting,
    setting,
)
from engine.project.records import ClassId, ClassPolicy, ModelVersion, Prediction, TrainedModel
from engine.project.store import ProjectPart

LOCKED_SETTING = "class_list_locked"
BROADEST_SETTING = "broadest_level"


@final
class ProjectModels(ProjectPart):
    """Versions and predictions are not journaled. The choice of a version is, and can be undone.

    Predictions are a layer of their own: no label is ever made of one, and none touches a label.
    """

    @property
    def current(self) -> ModelVersion:
        """The model version in use."""
        return self.version(chosen_version_id(self._connection))

    def version(self, version_id: int) -> ModelVersion:
        """One model version; raises `InputError` where there is none with this id."""
        return model_version(self._connection, int(version_id))

    def versions(self) -> list[ModelVersion]:
        """All model versions, oldest first."""
        return model_versions(self._connection)

    def file(self, content_hash: str) -> bytes:
        """Content of a model file in the project; see `model_file`."""
        return model_file(self._connection, content_hash)

    def predictions(self, setting: str) -> list[Prediction]:
        """Predictions of the current version by a setting ("ppn+", "ppn", "prototypes").

        Those of labelled images are included, those of deleted classes are not. A deleted safe
        class reads as none.
        """
        rows = self._connection.rows(
            "SELECT image_id, prediction.class_id, score, safe.class_id,"
            " iif(safe.class_id IS NULL, 0.0, safe_score)"
            " FROM prediction JOIN image USING (image_id)"
            " JOIN class ON class.class_id = prediction.class_id"
            " LEFT JOIN class AS safe ON safe.class_id = safe_class_id"
            " WHERE setting = ? AND version_id = ? ORDER BY image_id",
            (setting, chosen_version_id(self._connection)),
        )
        return [Prediction(*row) for row in rows]

    def add(
        self,
        *,
        backbone_name: str,
        backbone_hash: str,
        backbone_path: str = "",
        propagation_hash: str = "",
        settings: dict[str, float | str] | None = None,
    ) -> ModelVersion:
        """Add a model version without choosing it; see `ModelVersion` for its fields."""
        for connection in self._store.fact_connections:
            version_id = insert_version(
                connection,
                backbone_name=backbone_name,
                backbone_hash=backbone_hash,
                backbone_path=backbone_path,
                propagation_hash=propagation_hash,
                settings=settings or {},
            )
        return self.version(version_id)

    def add_trained(self, model: TrainedModel) -> ModelVersion:
        """Add a model version that was trained here, without choosing it; see `insert_trained`."""
        for connection in self._store.fact_connections:
            version_id = insert_trained(connection, model)
        return self.version(version_id)

    def choose(self, version_id: int) -> Change:
        """Use another model version; raises `InputError` where there is none with this id."""
        version = self.version(version_id)
        called = version.name or f"{version.label} ({version.version_id})"
        is_another = version.version_id != chosen_version_id(self._connection)
        backup = BackupReason.MODEL if is_another else None
        with self._store.one_step(action("model_chosen", model=called), backup=backup) as step:
            put_setting(step, MODEL_SETTING, version.version_id)
        return step.change

    def store_predictions(
        self, rows: Iterable[Prediction], *, version_id: int, setting: str
    ) -> None:
        """Store predictions, one per image, replacing those of the same version and setting."""
        self._store.check_writable()
        values = [
            (
                setting,
                version_id,
                int(row.image_id),
                int(row.class_id),
                _probability(row.score),
                None if row.safe_class_id is None else int(row.safe_class_id),
                _probability(row.safe_score),
            )
            for row in rows
        ]
        connection = self._connection
        with connection.transaction():
            connection.write(
                "DELETE FROM prediction WHERE setting = ? AND version_id = ?", (setting, version_id)
            )
            connection.write_many("INSERT INTO prediction VALUES (?, ?, ?, ?, ?, ?, ?)", values)


def _probability(score: float) -> float:
    """The score without what rounding adds beyond 0 and 1."""
    return min(max(float(score), 0.0), 1.0)


def _change_of(before: ClassPolicy, after: ClassPolicy) -> str:
    """Code of the action that makes one policy of another."""
    if before.bar != after.bar:
        return "threshold_changed"
    if before.is_broadest != after.is_broadest:
        return "predictions_begun" if after.is_broadest else "broader_predictions_allowed"
    return "predictions_stopped" if after.is_deepest else "predictions_allowed"


@final
class ProjectPolicies(ProjectPart):
    """The policies and settings of a project."""

    def by_class(self) -> dict[ClassId, ClassPolicy]:
        """Policies of the classes that have one of their own."""
        attributes = self._store.graph.all_attributes()
        policies = (
            (each, ClassPolicy(of.bar, of.is_deepest, of.is_broadest)) for each, of in attributes
        )
        return {class_id: policy for class_id, policy in policies if policy != ClassPolicy()}

    def set(self, class_id: ClassId, policy: ClassPolicy) -> Change:
        """Set the policy of a class, for it and all below without one of their own.

        Raises:
            UnknownClassError: there is no such class.
            InputError: the threshold is not a probability.
        """
        known = self.by_class().get(class_id, ClassPolicy())
        name = class_name(self._connection, class_id)
        wanted = replace(self._store.graph.attributes(class_id), **asdict(policy))
        called = action(_change_of(known, policy), name)
        return self._store.edit_graph(lambda graph: graph.set_attributes(class_id, wanted), called)

    @property
    def is_locked(self) -> bool:
        """Whether the class list is locked: a new word makes a class only after a question."""
        return bool(self.setting(LOCKED_SETTING, False))

    def lock(self, *, is_on: bool) -> Change:
        """Lock the class list, or unlock it: one action."""
        called = action("class_list_locked" if is_on else "class_list_unlocked")
        return self.set_setting(LOCKED_SETTING, is_on or None, called)

    @property
    def broadest_level(self) -> int:
        """The level of the broadest predicted coarse classes; 0, the top level, for any."""
        return max(0, int(self.setting(BROADEST_SETTING, 0)))

    def set_broadest_level(self, level: int) -> Change:
        """Predict no coarse class above a level: one action, whose text counts levels from 1.

        Raises:
            InputError: there is no such level.
        """
        if not 0 <= level <= DEEPEST_LEVEL:
            raise InputError(
                "this is not a level",
                expected="0 to {deepest:,}",
                found=str(level),
                deepest=DEEPEST_LEVEL,
            )
        called = (
            action("broadest_level_set", level=level + 1)
            if level
            else action("broadest_level_removed")
        )
        return self.set_setting(BROADEST_SETTING, level or None, called)

    def setting(self, name: str, default: Any = None) -> Any:
        """A named setting, or the default where it is not set; see `setting`."""
        return setting(self._connection, name, default)

    def set_setting(self, name: str, value: Any, called: Action | None = None) -> Change:
        """Set a named setting of the project to plain JSON values, or remove it with None.

        The entry in the history names the setting, unless `called` is given.

        Raises:
            InputError: the value is not plain, or the name belongs to `ProjectModels.choose`.
        """
        if name == MODEL_SETTING:
            raise InputError("the model version is chosen, not set", found=name)
        with self._store.one_step(called or action("setting_changed", setting=name)) as step:
            put_setting(step, name, value)
        return step.change
