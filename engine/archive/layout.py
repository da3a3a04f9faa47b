"""What lies where in a project archive, and what it says of itself."""

import json
import os
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from itertools import takewhile
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any, Final

from engine.config import PROJECT_SUFFIX
from engine.errors import FormatError
from engine.texts import marked

FORM: Final = 1  # of archives; one of a higher number is refused
OWN_FOLDER: Final = "protoleaf-copy"
"""Of what is neither the project nor a photo."""
ABOUT: Final = f"{OWN_FOLDER}/about.json"
CONTENTS: Final = f"{OWN_FOLDER}/contents"  # (n, 16) uint8, content hashes of what is embedded
EMBEDDINGS: Final = f"{OWN_FOLDER}/embeddings"  # (n, width) float16, little-endian
MOST_EMBEDDINGS: Final = 200_000
"""Images; the embeddings of more are computed again. Chosen: so many fit the memory of any computer."""
PHOTO_FOLDER: Final = "photos"  # of photos that lie outside the project's folder
_REPLACED: Final = "_"  # in place of characters that some system forbids in names
_FORBIDDEN: Final = re.compile(r'[<>:"|?*\\\x00-\x1f\x7f\ud800-\udfff]')
_RESERVED: Final = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)
_LONGEST_PART_BYTES: Final = (
    200  # of a name. Chosen: file systems take 255, and a number may come behind it.
)
_LONGEST_TEXT: Final = 300  # characters of a text in the archive's description
_NOT_READABLE: Final = marked("{archive} is not a copy of a Protoleaf project, or is damaged")


@dataclass(frozen=True)
class ArchiveFacts:
    """What an archive says of itself; plain, and checked when it is read.

    Attributes:
        project: name of the project file in it.
        images: of the project.
        reduced_side: pixels of the longer side of reduced photos; 0 where photos are as they were.
        made_by: the person who made it.
        made_at: when, in ISO 8601.
        program: name and version of the program that made it.
        embedding: identity of the embeddings in it; "" for none.
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
        """The project's name."""
        return self.project.removesuffix(PROJECT_SUFFIX)

    def encoded(self) -> bytes:
        return json.dumps({"form": FORM, **asdict(self)}, ensure_ascii=False, indent=1).encode()


def facts_from(data: bytes, archive: str) -> ArchiveFacts:
    """What an archive says of itself.

    Raises:
        FormatError: it is no description of one, or of a newer form.
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
    """The error for a file that is no archive of ours, or not whole."""
    return FormatError(
        _NOT_READABLE,
        found=found,
        remedy="download or copy the file again, or ask for a new one",
        archive=archive,
    )


# -- names


def portable_part(name: str) -> str:
    """A name of a file or folder that every system takes."""
    clean = _FORBIDDEN.sub(_REPLACED, name).rstrip(". ") or _REPLACED
    clean = f"{_REPLACED}{clean}" if _RESERVED.fullmatch(clean) else clean
    stem, suffix = os.path.splitext(clean)  # noqa: PTH122 (text, not a path)
    while len(f"{stem}{suffix}".encode()) > _LONGEST_PART_BYTES:
        stem, suffix = (stem[:-1], suffix) if stem else (suffix[: _LONGEST_PART_BYTES // 4], "")
    return stem + suffix


def folded(name: str) -> str:
    """A name as systems compare it that know no capitals."""
    return unicodedata.normalize("NFC", name).casefold()


def portable_paths(paths: Iterable[str], folder: Path, project: str) -> dict[str, str]:
    """Where each file lies in the archive, by its path in the project: there, if that is within its folder.

    Args:
        paths: relative to the folder, or absolute.
        folder: of the project.
        project: name of its file in the archive.
    """
    distinct = list(dict.fromkeys(paths))
    outside = [_absolute_parts(path, folder) for path in distinct if not _is_inside(path)]
    folders = zip(*(parts[:-1] for parts in outside), strict=False)
    shared = max(
        0, len(list(takewhile(lambda names: len(set(names)) == 1, folders))) - 1
    )  # its own name stays
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
