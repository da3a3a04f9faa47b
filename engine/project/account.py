"""Whose account this is: the full name, as the system knows it, or else the login name."""

import getpass
import sys
from functools import cache
from typing import Final

_SHARED: Final = frozenset(
    {"root", "system administrator", "administrator", "admin", "user", "guest", "nobody", "unknown", "ubuntu", "debian"}
)
"""Names of accounts that are no person's own."""


@cache
def full_name() -> str:
    """The person's full name; "" where the system knows none. Asked once: a directory in the network may be slow."""
    try:
        name = _name_in_directory()
    except (ImportError, KeyError, OSError):
        return ""
    return "" if _is_shared(name) else name


@cache
def account_name() -> str:
    """The full name, or else the login name; "" for an account that is no person's own."""
    try:
        login = getpass.getuser()
    except (ImportError, KeyError, OSError):
        login = ""
    return full_name() or ("" if _is_shared(login) else login)


def name_in_gecos(gecos: str, login: str) -> str:
    """The name in the field of `/etc/passwd` that describes an account: its first part, where `&` is the login name."""
    return gecos.partition(",")[0].replace("&", login.capitalize()).strip()


def _is_shared(name: str) -> bool:
    return name.casefold() in _SHARED


def _name_in_directory() -> str:
    if sys.platform == "win32":
        import ctypes

        name_display, size = 3, ctypes.c_ulong(256)
        name = ctypes.create_unicode_buffer(size.value)
        is_known = ctypes.windll.secur32.GetUserNameExW(name_display, name, ctypes.byref(size))
        return name.value.strip() if is_known else ""
    import os
    import pwd

    account = pwd.getpwuid(os.getuid())
    return name_in_gecos(account.pw_gecos, account.pw_name)
