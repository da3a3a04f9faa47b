"""When and who: the two facts that every action of a person carries."""

import os
from datetime import UTC, datetime

from engine.config import PERSON_VARIABLE
from engine.errors import ProjectDamagedError
from engine.project.account import account_name

_NOBODY = "Anonymous"


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
    """Name of the person at this computer: as chosen, or else as the account knows it."""
    return os.environ.get(PERSON_VARIABLE, "").strip() or account_name() or _NOBODY


def choose_person(name: str) -> None:
    """Sign what a person does from now on with this name; "" with the account's."""
    os.environ[PERSON_VARIABLE] = name
