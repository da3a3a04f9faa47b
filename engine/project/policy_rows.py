"""Named settings: what people set, so they go through the journal."""

import json
from typing import Any

from engine.errors import InputError, ProjectDamagedError
from engine.project.connection import Connection
from engine.project.schema import SETTING
from engine.project.step import OpenStep


def put_setting(step: OpenStep, name: str, value: Any) -> None:
    """Set a named setting; None takes it away.

    Raises:
        InputError: the value cannot be written as JSON.
    """
    if value is None:
        step.delete(SETTING, [(name,)])
        return
    try:
        text = json.dumps(value, sort_keys=True)
    except (TypeError, ValueError) as error:
        raise InputError(
            "the setting {name} cannot be stored", expected="plain values", found=str(error), name=name
        ) from error
    step.put(SETTING, [(name, text)])


def setting(connection: Connection, name: str, default: Any) -> Any:
    """Read a named setting, or the default where it is not set.

    Raises:
        ProjectDamagedError: the stored value cannot be read.
    """
    text = connection.value("SELECT value FROM setting WHERE name = ?", (name,))
    try:
        return default if text is None else json.loads(text)
    except (TypeError, ValueError) as error:
        raise ProjectDamagedError(
            "the setting {name} cannot be read",
            found=str(connection.path),
            remedy="set it again, or open an earlier copy of the file",
            name=name,
        ) from error
