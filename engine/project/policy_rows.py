"""Bars of classes and named settings: what people set, so both go through the journal."""

import json
from collections.abc import Iterable
from typing import Any

from engine.errors import InputError, ProjectDamagedError
from engine.project.connection import Connection
from engine.project.records import ClassId, ClassPolicy
from engine.project.schema import CLASS_POLICY, SETTING
from engine.project.step import OpenStep


def put_policy(step: OpenStep, class_id: ClassId, policy: ClassPolicy) -> None:
    """Set a class's policy; one that says nothing takes the row away.

    Raises:
        InputError: the bar is no probability.
    """
    if policy.bar is not None and not 0 <= policy.bar <= 1:
        raise InputError("a bar must be a probability", expected="0 to 1", found=str(policy.bar))
    if policy == ClassPolicy():
        delete_policies(step, [class_id])
    else:
        bar = None if policy.bar is None else float(policy.bar)
        step.put(CLASS_POLICY, [(class_id, bar, int(policy.is_deepest))])


def delete_policies(step: OpenStep, class_ids: Iterable[ClassId]) -> None:
    """Take the policies of classes away."""
    step.delete(CLASS_POLICY, [(class_id,) for class_id in sorted(class_ids)])


def policies(connection: Connection) -> dict[ClassId, ClassPolicy]:
    """Policies of the classes that have one of their own."""
    rows = connection.rows("SELECT class_id, bar, is_deepest FROM class_policy ORDER BY class_id")
    return {class_id: ClassPolicy(bar, bool(is_deepest)) for class_id, bar, is_deepest in rows}


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
        raise InputError(f"the setting {name} cannot be stored", expected="plain values", found=str(error)) from error
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
            f"the setting {name} cannot be read",
            found=str(connection.path),
            remedy="set it again, or open an earlier copy of the file",
        ) from error
