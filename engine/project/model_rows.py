"""Model versions: only ever added; which one is in use is a setting, so that choosing can be undone."""

import json
from collections.abc import Mapping
from typing import Final

from engine.errors import InputError
from engine.project.clock import now_text, time_of
from engine.project.connection import Connection, Row
from engine.project.records import ModelVersion

MODEL_SETTING: Final = "model_version"
_COLUMNS: Final = (
    "version_id, backbone_name, backbone_hash, backbone_path, propagation_hash, created_at, settings FROM model_version"
)


def insert_version(
    connection: Connection,
    *,
    backbone_name: str,
    backbone_hash: str,
    backbone_path: str,
    propagation_hash: str,
    settings: Mapping[str, float | str],
) -> int:
    """Add a model version; see `ModelVersion` for the fields.

    Returns:
        Its id.
    """
    return connection.write(
        "INSERT INTO model_version"
        " (backbone_name, backbone_hash, backbone_path, propagation_hash, created_at, settings)"
        " VALUES (?, ?, ?, ?, ?, ?)",
        (backbone_name, backbone_hash, backbone_path, propagation_hash, now_text(), json.dumps(dict(settings))),
    )


def model_version(connection: Connection, version_id: int) -> ModelVersion:
    """Read one model version.

    Raises:
        InputError: there is none with this id.
    """
    row = connection.row(f"SELECT {_COLUMNS} WHERE version_id = ?", (version_id,))
    if row is None:
        raise InputError("there is no such model version in the project", found=str(version_id))
    return _version(row)


def model_versions(connection: Connection) -> list[ModelVersion]:
    """Read all model versions, oldest first."""
    return [_version(row) for row in connection.rows(f"SELECT {_COLUMNS} ORDER BY version_id")]


def chosen_version_id(connection: Connection) -> int:
    """Id of the model version in use."""
    return int(connection.value("SELECT value FROM setting WHERE name = ?", (MODEL_SETTING,)))


def _version(row: Row) -> ModelVersion:
    version_id, name, backbone_hash, path, propagation_hash, created_at, settings = row
    return ModelVersion(
        version_id, name, backbone_hash, path, propagation_hash, time_of(created_at), json.loads(settings)
    )
