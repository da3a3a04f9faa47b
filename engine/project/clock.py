"""Time and author, which every action carries."""

import getpass
import os
import sys
from datetime import UTC, datetime
from functools import cache

from engine.config import PERSON_VARIABLE
from engine.errors import ProjectDamagedError

ANONYMOUS = "Anonymous"
"""Annotator of labels given before the name of the user is known."""


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
    """Parse a time written by `now_text`; raises `ProjectDamagedError` for another text."""
    try:
        return datetime.fromisoformat(text)
    except (TypeError, ValueError) as error:
        raise ProjectDamagedError(
            "a time in the project file cannot be read",
            found=repr(text),
            remedy="open an earlier copy of the file",
        ) from error


def person_name() -> str:
    """Name of the current user: as chosen, else of the account."""
    return os.environ.get(PERSON_VARIABLE, "").strip() or account_name() or ANONYMOUS


def choose_person(name: str) -> None:
    """Set the author of further actions; "" for the name of the account."""
    os.environ[PERSON_VARIABLE] = name


_SHARED = frozenset(
    {
        "root",
        "system administrator",
        "administrator",
        "admin",
        "user",
        "guest",
        "nobody",
        "unknown",
        "ubuntu",
        "debian",
    }
)
"""Names of shared accounts."""


@cache
def full_name() -> str:
    """The user's full name; "" if unknown. Read once: a network directory may be slow."""
    try:
        name = _name_in_directory()
    except (ImportError, KeyError, OSError):
        return ""
    return "" if name.casefold() in _SHARED else name


@cache
def account_name() -> str:
    """The full name, else the login name; "" for a shared account."""
    try:
        login = getpass.getuser()
    except (ImportError, KeyError, OSError):
        login = ""
    return full_name() or ("" if login.casefold() in _SHARED else login)


def name_in_gecos(gecos: str, login: str) -> str:
    """The name in the GECOS field of `/etc/passwd`: its first part, where `&` is the login name."""
    return gecos.partition(",")[0].replace("&", login.capitalize()).strip()


def _name_in_directory() -> str:
    if sys.platform == "win32":
        import ctypes

        name_display, size = 3, ctypes.c_ulong(256)
        name = ctypes.create_unicode_buffer(size.value)
        is_known = ctypes.windll.secur32.GetUserNameExW(name_display, name, ctypes.byref(size))
        return name.value.strip() if is_known else ""
    import pwd

    account = pwd.getpwuid(os.getuid())
    return name_in_gecos(account.pw_gecos, account.pw_name)
