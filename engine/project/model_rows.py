"""Rows of settings and model versions. Versions are only added; choosing one is undoable.

The files of a version trained here are in the project, each content once: one file is the project.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any

from engine.errors import InputError, ProjectDamagedError
from engine.project.clock import now_text, time_of
from engine.project.connection import Connection, Row
from engine.project.records import ModelVersion, Plain, TrainedModel
from engine.project.schema import SETTING
from engine.project.setting_kinds import kind_of
from engine.project.step import OpenStep
from engine.texts import either

MODEL_SETTING = "model_version"
_EIGHT_BIT = "eight_bit_hash"
"""Stored as a setting of a version: programs without eight-bit companions open the project."""
_HEX = re.compile(r"[0-9a-f]*")
_COLUMNS = (
    "version_id, backbone_name, backbone_hash, backbone_path, propagation_hash, created_at,"
    " settings,"
    " name, parent_id, card, figures FROM model_version"
)


def insert_version(
    connection: Connection,
    *,
    backbone_name: str,
    backbone_hash: str,
    backbone_path: str,
    propagation_hash: str,
    settings: Mapping[str, Plain],
) -> int:
    """Add a model version and return its id; see `ModelVersion` for the fields."""
    with connection.transaction():
        return connection.write(
            "INSERT INTO model_version"
            " (backbone_name, backbone_hash, backbone_path, propagation_hash, created_at, settings)"
            " VALUES (?, ?, ?, ?, ?, ?)",
            (
                backbone_name,
                backbone_hash,
                backbone_path,
                propagation_hash,
                now_text(),
                json.dumps(dict(settings)),
            ),
        )


def insert_trained(connection: Connection, model: TrainedModel) -> int:
    """Add a trained model with its files, whole or not at all, and return its id.

    Raises:
        InputError: the version it was trained from is not in the project.
    """
    hashes = []
    with connection.transaction():
        model_version(connection, model.parent_id)
        for content in (model.backbone, model.propagation, *filter(None, (model.eight_bit,))):
            hashes.append(hashlib.sha256(content).hexdigest())
            connection.write(
                "INSERT OR IGNORE INTO model_file (hash, content) VALUES (?, ?)",
                (hashes[-1], content),
            )
        settings = dict(model.settings) | ({_EIGHT_BIT: hashes[2]} if model.eight_bit else {})
        version_id = insert_version(
            connection,
            backbone_name=model.backbone_name,
            backbone_hash=hashes[0],
            backbone_path="",
            propagation_hash=hashes[1],
            settings=settings,
        )
        connection.write(
            "UPDATE model_version SET name = ?, parent_id = ?, card = ?, figures = ?"
            " WHERE version_id = ?",
            (model.name, model.parent_id, model.card, json.dumps(dict(model.figures)), version_id),
        )
    return version_id


def model_file(connection: Connection, content_hash: str) -> bytes:
    """Read a model file in the project, by its SHA-256 as hex.

    Raises:
        ProjectDamagedError: it is missing, or its content has changed.
    """
    content = connection.value("SELECT content FROM model_file WHERE hash = ?", (content_hash,))
    if content is None or hashlib.sha256(content).hexdigest() != content_hash:
        raise ProjectDamagedError(
            "a model file in the project is missing or damaged",
            expected=content_hash[:12],
            found="nothing" if content is None else "another content",
            remedy="open an earlier copy of the file, or use another model version",
        )
    return bytes(content)


def file_faults(connection: Connection) -> list[str]:
    """One line for each model file that is missing or damaged."""
    faults = []
    for version in model_versions(connection):
        hashes = (
            version.backbone_hash,
            version.propagation_hash,
            *filter(None, (version.eight_bit_hash,)),
        )
        for content_hash in hashes if version.is_trained_here else ():
            try:
                model_file(connection, content_hash)
            except ProjectDamagedError as error:
                faults.append(f"{version.name}: {error.what} ({error.found})")
    return faults


def model_version(connection: Connection, version_id: int) -> ModelVersion:
    """Read one model version; raises `InputError` where there is none with this id."""
    row = connection.row(f"SELECT {_COLUMNS} WHERE version_id = ?", (version_id,))
    if row is None:
        known = connection.rows(f"SELECT {_COLUMNS} ORDER BY version_id")
        raise InputError(
            "there is no such model version in the project",
            expected=either(str(each[0]) for each in known),
            found=str(version_id),
            remedy="see them with `protoleaf versions`",
        )
    return _version(row)


def model_versions(connection: Connection) -> list[ModelVersion]:
    """Read all model versions, oldest first."""
    return [_version(row) for row in connection.rows(f"SELECT {_COLUMNS} ORDER BY version_id")]


def chosen_version_id(connection: Connection) -> int:
    """Id of the model version in use."""
    value = connection.value("SELECT value FROM setting WHERE name = ?", (MODEL_SETTING,))
    try:
        return int(value)
    except (TypeError, ValueError) as error:
        raise ProjectDamagedError(
            "the project does not specify which model version it uses",
            found="{value} in {path}",
            remedy="restore a backup or open an earlier copy of the file",
            value=repr(value),
            path=connection.path,
        ) from error


def _version(row: Row) -> ModelVersion:
    (
        version_id,
        backbone,
        backbone_hash,
        path,
        propagation_hash,
        created_at,
        text,
        name,
        parent,
        card,
        figures,
    ) = row
    settings = _plain_values(text)
    eight_bit_hash = str(settings.pop(_EIGHT_BIT, ""))
    return ModelVersion(
        version_id,
        backbone,
        backbone_hash,
        path,
        propagation_hash,
        time_of(created_at),
        settings,
        name=name,
        parent_id=parent,
        card=card,
        figures=_figures(figures),
        eight_bit_hash=eight_bit_hash,
    )


def _figures(text: str) -> dict[str, float | None]:
    """Figures by name; None where nothing was measured."""
    figures = _plain_values(text)
    if not all(value is None or isinstance(value, int | float) for value in figures.values()):
        raise _unreadable(text)
    return figures


def _plain_values(text: str) -> dict[str, Any]:
    try:
        values = json.loads(text)
    except (TypeError, ValueError, RecursionError) as error:
        raise _unreadable(text) from error
    if not isinstance(values, dict) or not all(
        value is None or isinstance(value, float | int | str | bool) for value in values.values()
    ):
        raise _unreadable(text)
    return values


def _unreadable(text: object) -> ProjectDamagedError:
    return ProjectDamagedError(
        "the settings of a model version cannot be read",
        expected="plain values by name",
        found=repr(text)[:80],
        remedy="restore a backup or open an earlier copy of the file",
    )


def put_setting(step: OpenStep, name: str, value: Any) -> None:
    """Set a named setting, or remove it with None; raises `InputError` if not JSON."""
    if value is None:
        step.delete(SETTING, [(name,)])
        return
    try:
        text = json.dumps(value, sort_keys=True)
    except (TypeError, ValueError) as error:
        raise InputError(
            "the setting {name} cannot be stored",
            expected="plain values",
            found=str(error),
            name=name,
        ) from error
    step.put(SETTING, [(name, text)])


def stored_setting(connection: Connection, name: str, default: Any) -> Any:
    """Read a setting of any kind, or the default; raises `ProjectDamagedError` if not JSON."""
    text = connection.value("SELECT value FROM setting WHERE name = ?", (name,))
    try:
        return default if text is None else json.loads(text)
    except (TypeError, ValueError, RecursionError) as error:
        raise ProjectDamagedError(
            "the setting {name} cannot be read",
            found=str(connection.path),
            remedy="set it again, or open an earlier copy of the file",
            name=name,
        ) from error


def setting(connection: Connection, name: str, default: Any) -> Any:
    """Read a named setting, or the default where it is unset or of another, harmless kind.

    Raises:
        ProjectDamagedError: it cannot be read, or is of another kind than in `setting_kinds`.
    """
    value, kind = stored_setting(connection, name, default), kind_of(name)
    if value is default or kind is None or kind.fits(value):
        return value
    if kind.has_fallback:
        return default
    raise ProjectDamagedError(
        "the setting {name} is of the wrong kind",
        expected=kind.title,
        found="{value} in {path}",
        remedy="set it again, or open an earlier copy of the file",
        name=name,
        value=repr(value)[:80],
        path=connection.path,
    )


def setting_faults(connection: Connection) -> list[str]:
    """One line for each setting of the wrong kind."""
    names = connection.rows(
        "SELECT name FROM setting WHERE name <> ? ORDER BY name", (MODEL_SETTING,)
    )
    kinds = [(name, stored_setting(connection, name, None), kind_of(name)) for (name,) in names]
    return [
        f"the setting {name} is of the wrong kind: expected {kind.title}, found {repr(value)[:80]}"
        for name, value, kind in kinds
        if kind is not None and not kind.fits(value)
    ]


def hash_faults(connection: Connection) -> list[str]:
    """One line for each invalid hash of a model version: it could become a path."""
    return [
        f"model version {version.version_id}: {name} is not a hash: {value[:80]!r}"
        for version in model_versions(connection)
        for name, value in (
            ("backbone_hash", version.backbone_hash),
            ("propagation_hash", version.propagation_hash),
            ("eight_bit_hash", version.eight_bit_hash),
        )
        if not _HEX.fullmatch(value)
    ]
