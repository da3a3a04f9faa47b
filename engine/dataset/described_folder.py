"""A folder of Parquet shards with a JSON manifest: the form of data sets and predictions.

The description is there before the first shard, so an interrupted run knows what is missing. Shards
appear whole under their names (`engine.new_file`), so what is there is finished.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from engine.errors import FormatError, InputError
from engine.files import read_regular
from engine.full_disk import writing
from engine.new_file import ORDINARY_FILE, write_file
from engine.texts import marked

DESCRIPTION = "manifest.json"
SHARDS = "shards"  # the folder with the shards
_MOST_BYTES = 1 << 28  # of a manifest: of a million shards it has a tenth of that


@dataclass(frozen=True)
class ShardFacts:
    """Contents of a finished shard."""

    rows: int  # images, one row each
    failed: int  # of these, without an embedding or a prediction
    # Device, for people; "CPU, eight-bit" where the backbone's companion computed
    computed_on: str = ""


@dataclass(frozen=True)
class FolderKind:
    """A kind of folder."""

    format: str  # value of `format` in the manifest
    version: int  # of the format; a folder of a higher one is refused
    title: str  # what people call it, with its article
    remedy: str  # how another one is made


def shard_path(folder: Path, number: int) -> Path:
    """Path of a shard, whether it exists or not; numbers begin with 0."""
    return folder / SHARDS / f"{number:07d}.parquet"


def is_of_kind(folder: Path, kind: FolderKind) -> bool:
    """Whether a folder's manifest is of a kind, valid or not."""
    try:
        fields = json.loads(read_regular(folder / DESCRIPTION, at_most=_MOST_BYTES))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(fields, dict) and fields.get("format") == kind.format


def write_description(folder: Path, kind: FolderKind, fields: Mapping[str, Any]) -> None:
    """Write or replace the description.

    Raises:
        StorageError: the disk refuses.
    """
    content = {"format": kind.format, "version": kind.version, **fields}
    with writing(folder, "the folder cannot be written"):
        write_file(
            folder / DESCRIPTION,
            json.dumps(content, ensure_ascii=False, indent=1) + "\n",
            mode=ORDINARY_FILE,
        )


def read_description(folder: Path, kind: FolderKind) -> dict[str, Any]:
    """Read the fields of a description.

    Raises:
        InputError: the folder is not of this kind.
        FormatError: it was made by a newer program, or cannot be read.
    """
    path = folder / DESCRIPTION
    try:
        fields = json.loads(read_regular(path, at_most=_MOST_BYTES))
    except (FileNotFoundError, NotADirectoryError) as error:
        raise _other_kind(folder, kind, marked("no {file} in {folder}")) from error
    except (OSError, ValueError, RecursionError) as error:
        raise damaged_description(folder, kind, error) from error
    if not isinstance(fields, dict) or fields.get("format") != kind.format:
        raise _other_kind(folder, kind, marked("another {file} in {folder}"))
    if not isinstance(fields.get("version"), int) or fields["version"] > kind.version:
        raise FormatError(
            "{title} of a newer version of Protoleaf cannot be read",
            expected="version {expected_version}",
            found="version {found_version} in {folder}",
            remedy="update Protoleaf",
            title=kind.title,
            expected_version=kind.version,
            found_version=fields.get("version"),
            folder=folder,
        )
    return fields


def damaged_description(folder: Path, kind: FolderKind, error: Exception) -> FormatError:
    """Build the error for a description that cannot be read."""
    return FormatError(
        "the manifest of {title} is damaged",
        found="{path}: {reason}",
        remedy=kind.remedy,
        title=kind.title,
        path=folder / DESCRIPTION,
        reason=str(error),
    )


def _other_kind(folder: Path, kind: FolderKind, found: str) -> InputError:
    return InputError(
        "this is not {title}",
        expected="a folder with {file}",
        found=found,
        remedy=kind.remedy,
        title=kind.title,
        file=DESCRIPTION,
        folder=folder,
    )


def facts_as_data(shards: tuple[ShardFacts, ...]) -> list[dict[str, Any]]:
    """The facts of all shards for the description."""
    return [asdict(facts) for facts in shards]


def facts_of(fields: Any) -> tuple[ShardFacts, ...]:
    """Parse what `facts_as_data` wrote; raises `TypeError`, `KeyError` or `ValueError`."""
    return tuple(
        ShardFacts(int(each["rows"]), int(each["failed"]), str(each["computed_on"]))
        for each in fields
    )
