"""Which files that a list names may become images: a list of somebody else could name any file of this computer."""

import os
import stat
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final, final

from engine.images.kinds import IMAGE_SUFFIXES, RAW_SUFFIXES, kinds_text
from engine.images.photo_facts import photo_facts
from engine.project import Project

ELSEWHERE: Final = "it is neither below the list's folder nor below a folder of the project's images"
NO_FILE: Final = "it is no ordinary file"
NO_IMAGE: Final = "it is no image that can be read"


@final
class PermittedImages:
    """Images below the list's folder, below folders of the project's images, and below those that a person names.

    Args:
        project: its images tell its folders.
        source: the list, or the folder that it is in.
        further: folders that the person permits.
    """

    def __init__(self, project: Project, source: Path, further: Sequence[Path] = ()) -> None:
        own = source if source.is_dir() else source.parent
        self._roots = {_real(folder) for folder in (own, *further)}
        self._roots |= {_real(folder) for folder in _folders_of(project.images.each_file())}

    def refusal(self, file: Path) -> str:
        """Why a file must not become an image; "" where it may. Only ordinary files in a permitted place are opened."""
        try:
            status = file.stat()
        except (OSError, ValueError):
            return NO_FILE
        if not stat.S_ISREG(status.st_mode):
            return NO_FILE
        real = Path(_real(file))
        if not any(str(folder) in self._roots for folder in real.parents):
            return ELSEWHERE
        return "" if _is_image(file) else f"{NO_IMAGE}; images are {kinds_text()}"


def _is_image(file: Path) -> bool:
    suffix = file.suffix.casefold()
    return suffix in IMAGE_SUFFIXES and (suffix in RAW_SUFFIXES or photo_facts(file).width > 0)


def _folders_of(paths: Iterable[Path]) -> set[Path]:
    return {path.parent for path in paths}


def _real(path: Path) -> str:
    return os.path.realpath(path)
