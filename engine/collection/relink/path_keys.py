"""Paths as they are compared: by parts, whatever system wrote them and however it spells its names."""

import os
import unicodedata

Parts = tuple[str, ...]


def name_key(name: str) -> str:
    """A name as it is compared: macOS takes accents apart, and most systems do not tell upper from lower case."""
    if name.isascii():
        return name.lower()
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def folder_keys(folder: str) -> Parts:
    """The parts of a folder's path, as they are compared.

    Args:
        folder: as a project stores it: with "/" as separator, relative, absolute, or absolute on another system
            (`D:/photos`, `//server/share`).
    """
    return tuple(name_key(part) for part in folder.split("/") if part not in ("", "."))


def disk_folder_keys(folder: str) -> Parts:
    """The parts of an absolute path on this computer, as they are compared."""
    return folder_keys(folder.replace(os.sep, "/"))


def common_tail(first: Parts, second: Parts) -> int:
    """How many parts two paths have in common at their ends."""
    length = 0
    for one, other in zip(reversed(first), reversed(second), strict=False):
        if one != other:
            break
        length += 1
    return length
