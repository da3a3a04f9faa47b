"""How a project writes down where an image is: beside itself relatively, elsewhere absolutely, in any script."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from engine.errors import ProjectDamagedError

_SEPARATOR: Final = "/"


@dataclass(frozen=True)
class ImagePaths:
    """Translates between paths on this computer and paths in the file.

    Attributes:
        folder: the project's folder, absolute.
        prefixes: its spellings, with and without links resolved, each with a separator at its end.
    """

    folder: Path
    prefixes: tuple[str, ...]

    @classmethod
    def around(cls, project: Path, spelled: Path) -> "ImagePaths":
        """The translation for a project file.

        Args:
            project: the file itself, absolute.
            spelled: the same as the person gave it, which may lead over links.
        """
        folder = project.parent
        spellings = dict.fromkeys((os.fspath(folder), os.path.realpath(folder)))
        if spelled.parent.is_dir() and spelled.parent.samefile(folder):
            spellings[os.path.abspath(spelled.parent)] = None  # noqa: PTH100 (links stay as they are)
        return cls(folder, tuple(os.path.join(each, "") for each in spellings))  # noqa: PTH118 (keeps the separator)

    def stored(self, path: Path) -> str | bytes:
        """What the file holds for a path: text, or bytes where the file system's name is no valid Unicode.

        Args:
            path: absolute, or relative to the working folder.
        """
        text = os.fspath(path)
        if not os.path.isabs(text):  # noqa: PTH117 (this runs 100,000 times)
            text = os.path.abspath(text)  # noqa: PTH100
        for prefix in self.prefixes:
            if text.startswith(prefix):
                text = text[len(prefix) :]
                break
        if os.sep != _SEPARATOR:
            text = text.replace(os.sep, _SEPARATOR)
        return _as_value(text)

    def absolute(self, path: str) -> Path:
        """The path on this computer for one that a record shows."""
        return self.folder / path  # an absolute path wins over the folder


def shown_path(value: str | bytes) -> str:
    """The path in a record, for a value in the file.

    Raises:
        ProjectDamagedError: the value is no path.
    """
    try:
        return value if isinstance(value, str) else os.fsdecode(value)
    except TypeError as error:
        raise ProjectDamagedError(
            "an image's path cannot be read", found=repr(value), remedy="open an earlier copy of the file"
        ) from error


def _as_value(text: str) -> str | bytes:
    try:
        text.encode()
    except UnicodeEncodeError:
        return os.fsencode(text)
    return text
