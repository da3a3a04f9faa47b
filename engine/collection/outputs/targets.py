"""The one door for files that a person names as an output: what may have that name, and what keeps it.

The program's own files and the images of the project are never replaced, under whatever name they are reached: links,
folders under two names, hard links and other spellings are seen through by the identity of the file. Anything else that
is no earlier output of the same kind is replaced only where that was asked for. Decision 71.
"""

import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from engine.collection.outputs.own_outputs import is_own_output
from engine.config import PROJECT_SUFFIX, CacheFolders, backups_folder
from engine.errors import InputError, TakenError
from engine.files import open_regular
from engine.new_file import is_stream
from engine.new_folder import check_is_free
from engine.project import Project
from engine.project.file.on_disk import SIDE_SUFFIXES, is_of_this_program

_OTHER: Final = "choose another name"
_OWN_SUFFIXES: Final = tuple(f"{PROJECT_SUFFIX}{side}" for side in ("", *SIDE_SUFFIXES))
_KINDS: Final = (
    (b"\xff\xd8\xff", "a JPEG picture"),
    (b"\x89PNG", "a PNG picture"),
    (b"GIF8", "a GIF picture"),
    (b"II*\x00", "a TIFF picture or RAW photo"),
    (b"MM\x00*", "a TIFF picture or RAW photo"),
    (b"SQLite format 3", "a database"),
    (b"PK\x03\x04", "an archive or office document"),
    (b"%PDF", "a PDF document"),
)


def check_file(out: Path, kind: str, *, project: Project | None = None, is_overwriting: bool = False) -> None:
    """Refuse a name whose file must not be replaced; what is no file (a pipe, `/dev/stdout`) is written into.

    Args:
        out: the name; nothing needs to be there.
        kind: of output, as `is_own_output` knows it.
        project: whose images and files are never replaced.
        is_overwriting: whether the person asked to replace what is there.

    Raises:
        TakenError: something else is there, and nobody asked to replace it.
        InputError: a folder, a project, a backup, a cache or an image of the project has this name.
    """
    if project is not None:
        _check_project(out, project)
    if is_stream(out) or not os.path.lexists(out):
        _check_own_name(out)
        return
    if out.is_dir():
        raise InputError("the output is one file", found="the folder {path}", remedy="give a file's name", path=out)
    _check_own_name(out)
    _check_program(out)
    if project is not None and is_any_of(out, _alike(out, project)):
        raise _refused(out, "an image of the project")
    if is_own_output(out, kind):
        return
    if not is_overwriting:
        raise TakenError(
            "there is a file of this name already, and it is no earlier output of this kind",
            found=f"{out} ({what_it_is(out)})",
            remedy="choose another name, or replace it with --overwrite",
        )
    if project is not None and is_any_of(out, project.images.each_file()):
        raise _refused(out, "an image of the project")


def check_folder(out: Path, project: Project) -> None:
    """Refuse a name under which no folder can be made, or that belongs to a project.

    Raises:
        InputError: something other than an empty folder is there, or a project would take it for a part of itself.
        StorageError: there is no folder around it, or it cannot be looked at.
    """
    _check_project(out, project)
    _check_own_name(out)
    check_is_free(out)


def is_any_of(out: Path, files: Iterable[Path]) -> bool:
    """Whether a name leads to one of these files, by whatever way; files that are gone are passed over."""
    try:
        there = out.stat()
    except OSError:
        return False
    return any(_is_same(there, path) for path in files)


def what_it_is(path: Path) -> str:
    """What stands under a name, in a few words."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            return "not a file"
        with open_regular(path) as file:
            beginning = file.read(16)
    except FileNotFoundError:
        return "a link to nothing"
    except OSError:
        return "a file that cannot be read"
    return next((kind for magic, kind in _KINDS if beginning.startswith(magic)), "another file")


def _check_project(out: Path, project: Project) -> None:
    """Refuse paths of the project, also where nothing is: a missing image comes back, a side file is read."""
    if any(project.images.find(path) is not None for path in _spellings(out)):
        raise _refused(out, "an image of the project")
    if is_any_of(out, (_beside(project.path, side) for side in ("", *SIDE_SUFFIXES))):
        raise _refused(out, "the project")
    sides = {os.path.realpath(_beside(project.path, side)) for side in SIDE_SUFFIXES}
    if os.path.realpath(out) in sides:
        raise _refused(out, "a file that belongs to the project")


def _check_own_name(out: Path) -> None:
    """Refuse names of projects that are there, and of what SQLite would take for a part of them."""
    for path in (out, Path(os.path.realpath(out))):
        name = path.name.casefold()
        if name.endswith(_OWN_SUFFIXES[1:]) or (name.endswith(PROJECT_SUFFIX) and os.path.lexists(path)):
            raise _refused(out, "a project, or a file that belongs to it")


def _check_program(out: Path) -> None:
    """Refuse projects and backups under any name, and whatever lies among backups and caches."""
    if is_of_this_program(out):
        raise _refused(out, "a project or a backup")
    folders = {os.path.realpath(folder) for folder in (backups_folder(), CacheFolders.default().root)}
    if folders & {str(folder) for path in _spellings(out) for folder in path.parents}:
        raise _refused(out, "a backup or a cache")


def _alike(out: Path, project: Project) -> Iterator[Path]:
    """Images that the file could be, few of them; all where it has several names."""
    try:
        there = out.stat()
    except OSError:
        return
    yield from project.images.alike(there.st_size, out.name)
    yield from project.images.alike(there.st_size, Path(os.path.realpath(out)).name)
    if there.st_nlink > 1:
        yield from project.images.each_file()


def _spellings(out: Path) -> Iterator[Path]:
    yield Path(os.path.abspath(out))  # noqa: PTH100 (links keep their names)
    yield Path(os.path.realpath(out.parent)) / out.name
    yield Path(os.path.realpath(out))


def _beside(path: Path, side: str) -> Path:
    return path.with_name(path.name + side)


def _is_same(there: os.stat_result, path: Path) -> bool:
    try:
        return os.path.samestat(there, path.stat())
    except (OSError, ValueError):
        return False


def _refused(out: Path, what: str) -> InputError:
    return InputError("the output would overwrite {subject}", found=str(out), remedy=_OTHER, subject=what)
