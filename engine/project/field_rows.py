"""The fields that a project file defines, and whether they take the values in it."""

from collections.abc import Sequence

from engine.errors import InputError, ProtoleafError
from engine.image_fields import COUNT, ImageField, checked_value, from_plain
from engine.project.connection import Connection
from engine.project.model_rows import setting

FIELDS_SETTING = "fields"


def defined_fields(connection: Connection) -> tuple[ImageField, ...]:
    """The project's own fields, without count."""
    return from_plain(setting(connection, FIELDS_SETTING, []))


def value_faults(connection: Connection) -> list[str]:
    """One line for each value that its field does not take."""
    try:
        fields = defined_fields(connection)
    except ProtoleafError:
        return []  # a fault of the setting, which is reported as such
    return [
        f"the field {name[:80]!r} does not take {value[:80]!r}"
        for name, value in connection.rows(
            "SELECT DISTINCT field, value FROM field_value ORDER BY field, value"
        )
        if not takes(fields, name, value)
    ]


def takes(fields: Sequence[ImageField], name: str, value: str) -> bool:
    """Whether one of the fields, or count, has exactly this name and takes exactly this value."""
    field = next((each for each in (COUNT, *fields) if each.name == name), None)
    return field is not None and stored_value(field, value) == value


def stored_value(field: ImageField, value: str) -> str | None:
    """As `checked_value`; None for what is not a value of the field."""
    try:
        return checked_value(field, value)
    except InputError:
        return None
