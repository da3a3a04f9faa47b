"""The one door to a project file.

Every action of a person is one transaction, on disk before it returns, and can be undone.
"""

import logging
import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self, final

from engine.errors import InputError, ProtoleafError
from engine.files import FoundFile
from engine.project import image_rows, label_rows, model_rows, policy_rows, prediction_rows
from engine.project.action_texts import added_text, counted, label_text
from engine.project.backups.index import note_opening
from engine.project.backups.keeping import MANY
from engine.project.backups.naming import BackupReason
from engine.project.change import Change
from engine.project.clock import person_name
from engine.project.creation import FirstModel, create_file
from engine.project.opening import faults_of, open_for_reading, open_for_writing
from engine.project.records import ClassId, ImageId, Label, ModelVersion, Prediction, TrainedModel
from engine.project.what_if_actions import WhatIfActions

_log = logging.getLogger(__name__)


@final
class Project(WhatIfActions):
    """An open project file. May be used from any thread, by one at a time.

    Every action raises `ProjectReadOnlyError` when the project is open for reading only and `StorageError` when the
    disk refuses; then nothing has changed and the project stays usable.
    """

    # -- open and close --------------------------------------------------------------------------------------------

    @staticmethod
    def create(
        path: Path, *, backbone_name: str, backbone_hash: str, backbone_path: str = "", propagation_hash: str = ""
    ) -> "Project":
        """Create an empty project and open it for writing.

        Args:
            path: the file, under exactly this name.
            backbone_name, backbone_hash, backbone_path, propagation_hash: its first model version; see `ModelVersion`.

        Raises:
            ProjectExistsError: a file is there.
            StorageError: the folder is missing or cannot be written to.
        """
        whole = _whole(path)
        create_file(whole, FirstModel(backbone_name, backbone_hash, backbone_path, propagation_hash))
        return Project.open(whole, is_backed_up=False)

    @staticmethod
    def open(path: Path, *, for_writing: bool = True, is_backed_up: bool = True) -> "Project":
        """Open a project; an older one is migrated on a backup first.

        Args:
            path: the file.
            for_writing: whether it may be changed.
            is_backed_up: whether a backup is made first when the last one is a day old. Whoever does so beside the
                work says no.

        Raises:
            ProjectMissingError: no file is there.
            ProjectDamagedError: the file is no project or is damaged; it is left as it is.
            ProjectTooNewError: a newer version of the program made it.
            ProjectReadOnlyError: it is to be written and must not be.
            ProjectLockedError: it is to be written and somebody else does.
        """
        whole = _whole(path)
        file = open_for_writing(whole) if for_writing else open_for_reading(whole)
        project = Project(whole, file, spelled=path)
        note_opening(whole, project.backups.project_id, file.lock and file.lock.identity[1])
        if for_writing and is_backed_up:
            project._back_up_daily()
        return project

    @staticmethod
    def faults_of(path: Path) -> list[str]:
        """All that is wrong with a project file, also one that is too damaged to be opened; no byte of it is changed.

        Returns:
            One line for each fault; [] when the project is sound.

        Raises:
            ProjectMissingError, ProjectTooNewError: as `open`.
        """
        return faults_of(_whole(path))

    def close(self) -> None:
        """Close the file and let others write; closing twice is fine. What is only supposed is gone."""
        self._end_what_if()
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # -- images ----------------------------------------------------------------------------------------------------

    def add_images(self, files: Sequence[FoundFile], *, text: str = "") -> Change:
        """Add images; those whose path is known already are passed over.

        Args:
            files: in the order in which they get ids.
            text: the action in words; by default it tells the count.
        """
        with self.one_step(text) as step:
            _, new_ids = image_rows.insert_new(step, files, self._paths)
            step.text = text or added_text(len(new_ids))
        return step.change

    def import_labelled(
        self,
        entries: Sequence[tuple[FoundFile, ClassId | None]],
        *,
        who: str = "",
        source: str = "import",
        text: str = "",
    ) -> Change:
        """Add images together with labels, as one action.

        A label that is there already is never overwritten: a known image gets one only if it has none.

        Args:
            entries: each file with the class a person gave it; None adds the image without a label.
            who: the person; by default the one at this computer.
            source: by which way the labels come.
            text: the action in words; by default it tells the count.

        Raises:
            UnknownClassError: there is no such class.
        """
        named = {class_id for _, class_id in entries if class_id is not None}
        names = {class_id: self._class_name(class_id) for class_id in named}
        with self.one_step(text, who=who) as step:
            image_ids, new_ids = image_rows.insert_new(step, [file for file, _ in entries], self._paths)
            classes: dict[ImageId, ClassId] = {}
            for image_id, (_, class_id) in zip(image_ids, entries, strict=True):
                if class_id is not None:
                    classes.setdefault(image_id, int(class_id))
            labelled = label_rows.put_missing_labels(step, classes, who=who or person_name(), source=source)
            step.text = text or _added_text(new_ids, {image_id: classes[image_id] for image_id in labelled}, names)
        return step.change

    def remove_images(self, image_ids: Iterable[ImageId]) -> Change:
        """Take images and their labels out of the project; the files stay where they are."""
        ids = _plain(image_ids)
        notice = self.back_up_before(BackupReason.REMOVAL) if len(ids) > MANY else ""
        with self.one_step("") as step:
            removed = image_rows.delete_images(step, ids)
            step.text = f"Removed {counted(removed, 'image')}"
        return replace(step.change, notice=notice)

    def relink(self, moves: Iterable[tuple[ImageId, FoundFile]], *, strangers: Iterable[ImageId] = ()) -> Change:
        """Say where images are now; their ids, labels, facts and predictions stay.

        Args:
            moves: image id and the file that is its own.
            strangers: images that were added when moved files were taken for new ones; those without a label leave.
        """
        with self.one_step("") as step:
            found = image_rows.move_images(step, moves, strangers, self._paths)
            step.text = f"Found {counted(found, 'moved image')} again"
        return step.change

    # -- labels ----------------------------------------------------------------------------------------------------

    def label(
        self, image_ids: Iterable[ImageId], class_id: ClassId | None, *, who: str = "", source: str = "review"
    ) -> Change:
        """Say what is on images; a label that is there is replaced.

        Args:
            image_ids: the images.
            class_id: the class; None for "none of the classes".
            who: the person; by default the one at this computer.
            source: by which way the labels come.

        Raises:
            UnknownClassError: there is no such class.
            InputError: an image is not in the project.
        """
        ids = _plain(image_ids)
        name = None if class_id is None else self._class_name(class_id)
        image_rows.check_images(self._connection, ids)
        chosen = None if class_id is None else int(class_id)
        with self.one_step(label_text(len(ids), name), who=who) as step:
            label_rows.put_labels(step, dict.fromkeys(ids, chosen), who=who or person_name(), source=source)
        return step.change

    def import_labels(self, labels: Sequence[Label], *, text: str = "") -> Change:
        """Take over labels that others gave, with their names and times; images that have a label keep theirs.

        Args:
            labels: at most one for each image; class None for none of the classes.
            text: the action in words; by default it tells the count.

        Raises:
            UnknownClassError: there is no such class.
            InputError: an image is not in the project.
        """
        for class_id in {label.class_id for label in labels} - {None}:
            self._class_name(int(class_id or 0))
        image_rows.check_images(self._connection, [label.image_id for label in labels])
        with self.one_step(text) as step:
            count = len(label_rows.put_foreign_labels(step, labels))
            step.text = text or f"Imported {counted(count, 'label')}"
        return step.change

    def unlabel(self, image_ids: Iterable[ImageId]) -> Change:
        """Take labels away; images without one are passed over."""
        with self.one_step("") as step:
            count = label_rows.delete_labels(step, _plain(image_ids))
            step.text = f"Removed {counted(count, 'label')}"
        return step.change

    # -- models and settings ---------------------------------------------------------------------------------------

    def add_model_version(
        self,
        *,
        backbone_name: str,
        backbone_hash: str,
        backbone_path: str = "",
        propagation_hash: str = "",
        settings: dict[str, float | str] | None = None,
    ) -> ModelVersion:
        """Add a model version without choosing it. Versions are facts: undo leaves them.

        Args:
            backbone_name, backbone_hash, backbone_path, propagation_hash, settings: see `ModelVersion`.
        """
        self._check_writable()
        for connection in self._fact_connections:
            version_id = model_rows.insert_version(
                connection,
                backbone_name=backbone_name,
                backbone_hash=backbone_hash,
                backbone_path=backbone_path,
                propagation_hash=propagation_hash,
                settings=settings or {},
            )
        return model_rows.model_version(self._connection, version_id)

    def add_trained_model(self, model: TrainedModel) -> ModelVersion:
        """Add a model version that was trained here, with its files, without choosing it; undo leaves it.

        Raises:
            InputError: the version it was trained from is not in the project.
        """
        self._check_writable()
        for connection in self._fact_connections:
            version_id = model_rows.insert_trained(connection, model)
        return model_rows.model_version(self._connection, version_id)

    def choose_model(self, version_id: int) -> Change:
        """Use another model version.

        Raises:
            InputError: there is none with this id.
        """
        version = model_rows.model_version(self._connection, int(version_id))
        called = version.name or f"{version.label} ({version.version_id})"
        is_another = version.version_id != model_rows.chosen_version_id(self._connection)
        notice = self.back_up_before(BackupReason.MODEL) if is_another else ""
        change = self._put_setting(model_rows.MODEL_SETTING, version.version_id, f"Switched to model {called}")
        return replace(change, notice=notice)

    def set_setting(self, name: str, value: Any) -> Change:
        """Set a named setting of the project.

        Args:
            name: the setting.
            value: plain JSON values; None takes the setting away.

        Raises:
            InputError: the value is not plain, or the name belongs to `choose_model`.
        """
        if name == model_rows.MODEL_SETTING:
            raise InputError("the model version is chosen, not set", found=name)
        return self._put_setting(name, value, f"Changed the setting {name}")

    # -- facts that the machine finds out: no journal, no undo, never a person's layer ---------------------------------

    def record_scan(self, results: Iterable[tuple[ImageId, bytes | str | None, str | None]]) -> None:
        """Remember what reading the files found out; images that are gone by now are passed over.

        Args:
            results: image id, content hash (bytes or hex) and failure, either of them None.
        """
        self._check_writable()
        facts = list(results)
        for connection in self._fact_connections:
            image_rows.store_facts(connection, facts)

    def store_predictions(self, rows: Iterable[Prediction], *, version_id: int, setting: str) -> None:
        """Store predictions in place of the earlier ones of the same setting and model version.

        Args:
            rows: at most one for each image.
            version_id: the model version that made them.
            setting: "ppn+", "ppn" or "prototypes".
        """
        self._check_writable()
        prediction_rows.replace_predictions(self._connection, rows, version_id=version_id, setting=setting)

    # -- inside ----------------------------------------------------------------------------------------------------

    def _back_up_daily(self) -> None:
        try:
            self.backups.take_daily()
        except ProtoleafError as error:
            _log.warning("no backup was made: %s", error)
        except BaseException:
            self.close()
            raise

    def _put_setting(self, name: str, value: Any, text: str) -> Change:
        with self.one_step(text) as step:
            policy_rows.put_setting(step, name, value)
        return step.change


def _whole(path: Path) -> Path:
    """The absolute path; of a link to a file the file's own, since its lock, log and images are beside that."""
    return Path(os.path.realpath(path) if path.is_symlink() else os.path.abspath(path))  # noqa: PTH100


def _added_text(new_ids: Collection[ImageId], labels: Mapping[ImageId, ClassId], names: Mapping[ClassId, str]) -> str:
    fits = labels.keys() == set(new_ids)
    return added_text(len(new_ids), len(labels), [names[each] for each in set(labels.values())] if fits else ())


def _plain(image_ids: Iterable[ImageId]) -> list[ImageId]:
    """Plain distinct integers, in order: callers may bring those of NumPy."""
    return list(dict.fromkeys(map(int, image_ids)))
