"""Access to a project file.

Every action is one transaction, on disk before it returns, and can be undone.
"""

import logging
import os
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Self, final

from engine.errors import ProjectExistsError, ProtoleafError, StorageError
from engine.events import CancelToken, OnProgress, ignore_progress
from engine.full_disk import storage_error
from engine.new_file import new_file
from engine.project import soundness
from engine.project.audits import ProjectAudits
from engine.project.backups.contents import Contents, read_contents
from engine.project.backups.index import note_opening
from engine.project.backups.keeping import ProjectBackups
from engine.project.camera_clocks import ProjectClocks
from engine.project.classes import ProjectClasses
from engine.project.connection import Connection
from engine.project.details import ProjectDetails
from engine.project.exclusions import ProjectExclusions
from engine.project.fields import ProjectFields
from engine.project.file.file_lock import held_draft
from engine.project.file.file_state import Seal, digest_of, insert_state
from engine.project.file.on_disk import SIDE_SUFFIXES
from engine.project.file_changes import ProjectFileChanges
from engine.project.history import ProjectHistory, ProjectWhatIf
from engine.project.images import ProjectImages
from engine.project.labels import ProjectLabels
from engine.project.model_rows import MODEL_SETTING, insert_version
from engine.project.models import ProjectModels, ProjectPolicies
from engine.project.notes import ProjectNotes
from engine.project.opening import (
    CheckedFile,
    OpenFile,
    checked,
    open_for_reading,
    open_for_writing,
)
from engine.project.schema import APPLICATION_ID, SCHEMA, SCHEMA_VERSION
from engine.project.store import ProjectStore

# file systems take 255, and the companions' suffixes must fit as well
LONGEST_NAME_BYTES = 236


def _create_file(path: Path, add_model: Callable[[Connection], int]) -> None:
    """Write a new project under a hidden name first, so that a half-made one is never seen."""
    _check_is_free(path)
    if len(os.fsencode(path.name)) > LONGEST_NAME_BYTES:
        raise StorageError(
            "the name is too long",
            expected="at most {limit} bytes",
            found=path.name,
            limit=LONGEST_NAME_BYTES,
        )
    if not path.parent.is_dir():
        raise StorageError(
            "there is no such folder", found=str(path.parent), remedy="create it first"
        )
    try:
        with new_file(path, replace=False, for_sqlite=True) as draft, held_draft(draft.path):
            _write(draft.path, add_model)
    except FileExistsError as error:
        raise _exists(path) from error
    except OSError as error:
        raise storage_error(path, error, "the project cannot be created") from error


def _check_is_free(path: Path) -> None:
    if os.path.lexists(path):
        raise _exists(path)
    for suffix in SIDE_SUFFIXES:
        # SQLite would take the old log for the new project's and replay it.
        if os.path.lexists(f"{path}{suffix}"):
            raise ProjectExistsError(
                "part of an earlier project of this name still exists",
                found=f"{path}{suffix}",
                remedy="choose another name, or move that file away",
            )


def _exists(path: Path) -> ProjectExistsError:
    return ProjectExistsError(
        "a file of this name is already there", found=str(path), remedy="choose another name"
    )


def _write(draft: Path, add_model: Callable[[Connection], int]) -> None:
    with closing(Connection(draft, str(draft))) as connection:
        connection.write("PRAGMA synchronous = FULL")
        with connection.transaction():
            connection.script(SCHEMA)
            insert_state(connection, is_journal_whole=True)
            model = (MODEL_SETTING, str(add_model(connection)))
            connection.write("INSERT INTO setting (name, value) VALUES (?, ?)", model)
            connection.write(f"PRAGMA application_id = {APPLICATION_ID}")
            connection.write(f"PRAGMA user_version = {SCHEMA_VERSION}")


_log = logging.getLogger(__name__)


@final
class Project:
    """An open project file, loaded on demand. Any thread may use it, one at a time.

    Every action raises `ProjectReadOnlyError` when the project is read-only and `StorageError` when
    the disk refuses; then nothing has changed and the project stays usable.

    Attributes:
        path: the project file, absolute.
        classes: the category graph, and what is noted of each class.
        images: what is to be classified.
        details: image metadata.
        file_changes: files that were written to since their images were added.
        labels: of images, by annotators.
        notes: stars, flags and comments.
        audits: images drawn at random to be checked.
        exclusions: classes that are excluded for an image.
        fields: values of the fields that a project has for its images, such as count.
        clocks: corrections of the clocks of cameras.
        models: model versions, their files and predictions.
        policies: policies of classes, and settings.
        history: steps, undo and redo.
        what_if: trying edits out.
    """

    def __init__(self, path: Path, file: OpenFile, *, spelled: Path) -> None:
        self.path = path
        self._store = store = ProjectStore(path, file, spelled=spelled)
        self.classes = ProjectClasses(store)
        self.images = ProjectImages(store)
        self.details = ProjectDetails(store)
        self.file_changes = ProjectFileChanges(store)
        self.labels = ProjectLabels(store)
        self.notes = ProjectNotes(store)
        self.audits = ProjectAudits(store)
        self.exclusions = ProjectExclusions(store)
        self.fields = ProjectFields(store)
        self.clocks = ProjectClocks(store)
        self.models = ProjectModels(store)
        self.policies = ProjectPolicies(store)
        self.history = ProjectHistory(store)
        self.what_if = ProjectWhatIf(store)

    @staticmethod
    def create(
        path: Path,
        *,
        backbone_name: str,
        backbone_hash: str,
        backbone_path: str = "",
        propagation_hash: str = "",
    ) -> "Project":
        """Create an empty project, with its first `ModelVersion`, and open it for writing.

        Raises:
            ProjectExistsError: a file is there.
            StorageError: the folder is missing or cannot be written to.
        """
        whole = _whole(path)
        add_model = partial(
            insert_version,
            backbone_name=backbone_name,
            backbone_hash=backbone_hash,
            backbone_path=backbone_path,
            propagation_hash=propagation_hash,
            settings={},
        )
        _create_file(whole, add_model)
        return Project.open(whole, is_backed_up=False)

    @staticmethod
    def open(
        path: Path,
        *,
        for_writing: bool = True,
        is_backed_up: bool = True,
        on_progress: OnProgress = ignore_progress,
        cancel: CancelToken | None = None,
    ) -> "Project":
        """Open a project; an older one is migrated on a backup first.

        If `is_backed_up`, a backup is made first when the last one is a day old.

        Args:
            on_progress, cancel: of the check of a file that was not closed: seconds for a million
                images.

        Raises:
            ProjectMissingError: no file is there.
            ProjectDamagedError: the file is not a project or is damaged; it is not changed.
            ProjectTooNewError: a newer version of the program made it.
            ProjectReadOnlyError: it is to be written and must not be.
            ProjectLockedError: it is open for writing elsewhere.
            Cancelled: stopped while it was checked.
        """
        whole, opened = _whole(path), open_for_writing if for_writing else open_for_reading
        file = opened(whole, on_progress=on_progress, cancel=cancel)
        project = Project(whole, file, spelled=path)
        note_opening(whole, project.backups.project_id, file.lock and file.lock.identity[1])
        if for_writing and is_backed_up:
            project._back_up_daily()
        return project

    @staticmethod
    def faults_of(path: Path) -> list[str]:
        """All faults of a project file, even if too damaged to open; see `checked`."""
        return Project.checked(path).faults

    @staticmethod
    def checked(
        path: Path, *, on_progress: OnProgress = ignore_progress, cancel: CancelToken | None = None
    ) -> CheckedFile:
        """Check a project file for faults, and count its content; see `engine.project.opening`."""
        return checked(_whole(path), on_progress=on_progress, cancel=cancel)

    def close(self) -> None:
        """Close the file, discarding a what-if trial; closing twice is harmless."""
        if self._store.is_what_if:
            self._store.connection.close()
        self._store.file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def digest(self) -> bytes | None:
        """What identifies all that is in the file, bit for bit; None from the first action on.

        And of a file that was not closed properly before, or while edits are only tried out.
        """
        store = self._store
        is_known = store.file.seal is Seal.WHOLE and not store.is_what_if
        return digest_of(store.file.connection) if is_known else None

    @property
    def closed_digest(self) -> bytes | None:
        """The `digest` of the next opening, once it was closed."""
        return self._store.file.left.digest

    @property
    def is_writable(self) -> bool:
        """Whether actions are possible."""
        return self._store.file.is_writable

    @property
    def schema_version(self) -> int:
        """Version of the file's tables."""
        return int(self._store.connection.value("PRAGMA user_version"))

    @property
    def backups(self) -> ProjectBackups:
        """The backups of this project; usable from any thread, and after closing it."""
        return self._store.backups

    def check_place(self) -> None:
        """Raise `ProjectMovedError` where the file was moved, replaced, deleted or written to."""
        self._store.file.check_place()

    def contents(self) -> Contents:
        """User data, for a comparison with a backup."""
        return read_contents(self._store.connection)

    def check(self) -> list[str]:
        """One line per fault: pages, references, cycles, names, history; [] for a sound project."""
        return soundness.faults(self._store.connection)

    def _back_up_daily(self) -> None:
        try:
            self.backups.take_daily()
        except ProtoleafError as error:
            _log.warning("no backup was made: %s", error)
        except BaseException:
            self.close()
            raise


def _whole(path: Path) -> Path:
    """The absolute path; a link to a file is resolved, since lock and images are next to it."""
    is_link = path.is_symlink()
    return Path(os.path.realpath(path) if is_link else os.path.abspath(path))  # noqa: PTH100
