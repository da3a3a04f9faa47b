"""Making a new project file: under a temporary name first, so that a half-made one is never seen."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from engine.errors import ProjectExistsError, StorageError
from engine.full_disk import storage_error
from engine.new_file import new_file
from engine.project.connection import Connection
from engine.project.file.address import SIDE_SUFFIXES
from engine.project.file.drafts import held_draft
from engine.project.file.file_state import insert_state
from engine.project.model_rows import MODEL_SETTING, insert_version
from engine.project.schema import APPLICATION_ID, SCHEMA, SCHEMA_VERSION

LONGEST_NAME_BYTES: Final = 236  # file systems take 255, and the companions' suffixes must fit as well


@dataclass(frozen=True)
class FirstModel:
    """The model version that a new project starts with; see `ModelVersion`."""

    backbone_name: str
    backbone_hash: str
    backbone_path: str = ""
    propagation_hash: str = ""


def create_file(path: Path, model: FirstModel) -> None:
    """Write an empty project.

    Raises:
        ProjectExistsError: a file, or what is left of one, is there.
        StorageError: the folder is missing or cannot be written to.
    """
    _check_is_free(path)
    if len(os.fsencode(path.name)) > LONGEST_NAME_BYTES:
        raise StorageError(
            "the name is too long", expected="at most {limit} bytes", found=path.name, limit=LONGEST_NAME_BYTES
        )
    if not path.parent.is_dir():
        raise StorageError("there is no such folder", found=str(path.parent), remedy="create it first")
    try:
        with new_file(path, replace=False, for_sqlite=True) as draft, held_draft(draft.path):
            _write(draft.path, model)
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
                "a part of an earlier project of this name is still there",
                found=f"{path}{suffix}",
                remedy="choose another name, or move that file away",
            )


def _exists(path: Path) -> ProjectExistsError:
    return ProjectExistsError("a file of this name is already there", found=str(path), remedy="choose another name")


def _write(draft: Path, model: FirstModel) -> None:
    connection = Connection(draft, str(draft))
    try:
        connection.write("PRAGMA synchronous = FULL")
        with connection.transaction():
            connection.script(SCHEMA)
            insert_state(connection, is_journal_whole=True)
            version_id = insert_version(
                connection,
                backbone_name=model.backbone_name,
                backbone_hash=model.backbone_hash,
                backbone_path=model.backbone_path,
                propagation_hash=model.propagation_hash,
                settings={},
            )
            connection.write("INSERT INTO setting (name, value) VALUES (?, ?)", (MODEL_SETTING, str(version_id)))
            connection.write(f"PRAGMA application_id = {APPLICATION_ID}")
            connection.write(f"PRAGMA user_version = {SCHEMA_VERSION}")
    finally:
        connection.close()
