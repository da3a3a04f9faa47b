"""When and who: the two facts that every action of a person carries."""

import getpass
from datetime import UTC, datetime

from engine.errors import ProjectDamagedError

_NOBODY = "unknown"


def now_text() -> str:
    """The present as ISO-8601 text in UTC."""
    return time_text(datetime.now(UTC))


def time_text(when: datetime) -> str:
    """A time zone aware time as ISO-8601 text in UTC."""
    return when.astimezone(UTC).isoformat()


def present_time() -> datetime:
    """The present in the time zone of this computer."""
    return datetime.now().astimezone()


def time_of(text: str) -> datetime:
    """The time zone aware time that `now_text` wrote.

    Raises:
        ProjectDamagedError: it is no such time.
    """
    try:
        return datetime.fromisoformat(text)
    except (TypeError, ValueError) as error:
        raise ProjectDamagedError(
            "a time in the project file cannot be read", found=repr(text), remedy="open an earlier copy of the file"
        ) from error


def person_name() -> str:
    """Name of the person at this computer, as far as the system knows one."""
    try:
        return getpass.getuser()
    except (KeyError, OSError, ImportError):
        return _NOBODY
