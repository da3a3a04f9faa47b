"""Layout of a project archive: names of entries, and its description."""

import json
import os
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from itertools import takewhile
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any

from engine.config import PROJECT_SUFFIX
from engine.errors import FormatError
from engine.texts import marked

FORM = 1  # format version of archives; a higher one is refused
OWN_FOLDER = "protoleaf-copy"
"""Folder of all entries but the project and its photos."""
ABOUT = f"{OWN_FOLDER}/about.json"
CONTENTS = f"{OWN_FOLDER}/contents"  # (n, 16) uint8, content hashes of the embeddings
EMBEDDINGS = f"{OWN_FOLDER}/embeddings"  # (n, width) float16, little-endian
MOST_EMBEDDINGS = 200_000
"""Larger projects are archived without embeddings. Chosen: so many fit into any memory."""
PHOTO_FOLDER = "photos"  # of photos outside the project's folder
_REPLACED = "_"  # replaces characters that an operating system forbids in names
_FORBIDDEN = re.compile(r'[<>:"|?*\\\x00-\x1f\x7f\ud800-\udfff]')
_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)
_LONGEST_PART_BYTES = 200  # of a name. Chosen: the limit is 255, with room for a number
_LONGEST_TEXT = 300  # characters of a text in the description
_NOT_READABLE = marked("{archive} is not a copy of a Protoleaf project, or is damaged")


@dataclass(frozen=True)
class ArchiveFacts:
    """Description of an archive; validated when it is read.

    Attributes:
        project: name of the project file.
        images: number of images.
        reduced_side: longer side of reduced photos in pixels; 0 for original photos.
        made_by: name of the author.
        made_at: time in ISO 8601.
        program: name and version of the program.
        embedding: identity of the embeddings; "" for none.
    """

    project: str
    images: int
    reduced_side: int
    made_by: str
    made_at: str
    program: str
    embedding: str = ""

    @property
    def name(self) -> str:
        """Name of the project."""
        return self.project.removesuffix(PROJECT_SUFFIX)

    def encoded(self) -> bytes:
        return json.dumps({"form": FORM, **asdict(self)}, ensure_ascii=False, indent=1).encode()


def facts_from(data: bytes, archive: str) -> ArchiveFacts:
    """Parse and validate a description.

    Raises:
        FormatError: it is invalid, or of a newer version.
    """
    try:
        found = json.loads(data)
        form = int(found.pop("form"))
        facts = ArchiveFacts(**{name: found[name] for name in ArchiveFacts.__dataclass_fields__})
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise not_readable(archive) from error
    if form > FORM:
        raise FormatError(
            "{archive} was made by a newer version of the program",
            found=str(facts.program)[:_LONGEST_TEXT],
            remedy="update Protoleaf",
            archive=archive,
        )
    if not _are_plain(facts):
        raise not_readable(archive)
    return facts


def _are_plain(facts: ArchiveFacts) -> bool:
    numbers: tuple[Any, ...] = (facts.images, facts.reduced_side)
    texts: tuple[Any, ...] = (
        facts.project,
        facts.made_by,
        facts.made_at,
        facts.program,
        facts.embedding,
    )
    are_numbers = all(type(each) is int and each >= 0 for each in numbers)
    are_texts = all(isinstance(each, str) and len(each) <= _LONGEST_TEXT for each in texts)
    return are_numbers and are_texts and _is_project_name(facts.project)


def _is_project_name(name: str) -> bool:
    return name.endswith(PROJECT_SUFFIX) and portable_part(name) == name and "/" not in name


def not_readable(archive: str, found: str = "") -> FormatError:
    """Error for a file that is not a project archive, or damaged."""
    return FormatError(
        _NOT_READABLE,
        found=found,
        remedy="download or copy the file again, or ask for a new one",
        archive=archive,
    )


def portable_part(name: str) -> str:
    """A file or folder name that is valid on all operating systems."""
    clean = _FORBIDDEN.sub(_REPLACED, name).rstrip(". ") or _REPLACED
    clean = f"{_REPLACED}{clean}" if _RESERVED.fullmatch(clean) else clean
    stem, suffix = os.path.splitext(clean)  # noqa: PTH122 (text, not a path)
    while len(f"{stem}{suffix}".encode()) > _LONGEST_PART_BYTES:
        stem, suffix = (stem[:-1], suffix) if stem else (suffix[: _LONGEST_PART_BYTES // 4], "")
    return stem + suffix


def folded(name: str) -> str:
    """A name normalised for case-insensitive file systems."""
    return unicodedata.normalize("NFC", name).casefold()


def portable_paths(paths: Iterable[str], folder: Path, project: str) -> dict[str, str]:
    """Name of each file in the archive by its path; unchanged within the project's folder.

    Args:
        paths: relative to the folder, or absolute.
        folder: of the project.
        project: name of the project file in the archive.
    """
    distinct = list(dict.fromkeys(paths))
    outside = [_absolute_parts(path, folder) for path in distinct if not _is_inside(path)]
    folders = zip(*(parts[:-1] for parts in outside), strict=False)
    # folders that all have in common, but the last
    shared = max(0, len(list(takewhile(lambda names: len(set(names)) == 1, folders))) - 1)
    wanted = {
        path: path.split("/")
        if _is_inside(path)
        else [PHOTO_FOLDER, *_absolute_parts(path, folder)[shared:]]
        for path in distinct
    }
    taken = {folded(project)}
    found: dict[str, str] = {}
    unchanged_first = sorted(distinct, key=lambda path: not _is_unchanged(wanted[path], path))
    for path in unchanged_first:
        name = found[path] = _free("/".join(map(portable_part, wanted[path])), taken)
        taken.add(folded(name))
    return found


def _is_unchanged(parts: Sequence[str], path: str) -> bool:
    return "/".join(map(portable_part, parts)) == path


def _is_inside(path: str) -> bool:
    parts = path.split("/")
    is_relative = not PurePosixPath(path).is_absolute() and not PureWindowsPath(path).anchor
    return (
        is_relative and not {"", ".", ".."} & set(parts) and folded(parts[0]) != folded(OWN_FOLDER)
    )


def _absolute_parts(path: str, folder: Path) -> list[str]:
    return [part for part in os.path.normpath(folder / path).replace("\\", "/").split("/") if part]


def _free(name: str, taken: set[str]) -> str:
    stem, suffix = os.path.splitext(name)  # noqa: PTH122 (text, not a path)
    number, free = 1, name
    while folded(free) in taken:
        number += 1
        free = f"{stem} ({number}){suffix}"
    return free
