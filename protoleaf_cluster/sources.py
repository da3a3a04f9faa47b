"""Sources of a data set: folders, lists of paths, tar files, Parquet tables, object stores."""

import os
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path, PurePath

from engine.errors import InputError, StorageError, found_at
from engine.events import CancelToken
from engine.files import open_regular
from engine.images.find_images import FoundImages, each_image_folder, without_doubles
from engine.images.kinds import IMAGE_SUFFIXES
from protoleaf_cluster.containers import PARQUET, TAR, rows_by_group
from protoleaf_cluster.plan import IMAGE, TABLE, TAR_FILE, Piece
from protoleaf_cluster.storage import each_in_store, is_address, refuse_credentials, size_of

LIST_SUFFIXES = frozenset({".txt", ".lst"})
_TAKEN = IMAGE_SUFFIXES | {TAR, PARQUET}


def absolute(sources: Sequence[str]) -> tuple[str, ...]:
    """Make paths absolute, as the manifest stores them; addresses are unchanged.

    Raises:
        InputError: an address contains credentials.
    """
    for each in sources:
        refuse_credentials(each)
    # `resolve` would follow links.
    return tuple(
        each if is_address(each) else os.path.abspath(each)  # noqa: PTH100
        for each in sources
    )


def each_piece(
    sources: Sequence[str],
    shard_images: int,
    found: FoundImages,
    *,
    cancel: CancelToken | None = None,
) -> Iterator[Piece]:
    """Yield the images and archives of the sources, in order.

    In folders and stores the suffix decides, as on the desktop; tar files and Parquet tables in
    them are included.

    Args:
        sources: absolute, see `absolute`.
        shard_images: maximum number of images in a piece of a table, as far as row groups permit.
        found: records unreadable folders and skipped files.

    Raises:
        InputError: a source has an unsupported type, or a table has no column with images.
        StorageError, NetworkError: a source is missing, or the store does not answer.
        Cancelled: `cancel` was set.
    """
    token = cancel or CancelToken()
    for source in sources:
        for name, size in _each_file(source, found, token):
            token.raise_if_cancelled()
            yield from _pieces(name, size, shard_images)


def _each_file(
    source: str, found: FoundImages, cancel: CancelToken
) -> Iterator[tuple[str, int | None]]:
    """Yield name and size in bytes of each file; None if the size is not looked up."""
    if is_address(source):
        yield from _in_store(source)
    elif Path(source).is_dir():
        for folder in each_image_folder(Path(source), found, suffixes=_TAKEN, cancel=cancel):
            yield from ((str(file.path), file.size_bytes) for file in folder.files)
    elif (suffix := Path(source).suffix.lower()) in LIST_SUFFIXES:
        yield from ((name, None) for name in _listed(Path(source)))
    elif suffix in _TAKEN:
        yield source, size_of(source)
    else:
        size_of(source)  # raises if it is missing
        raise InputError(
            "this is not a source of images",
            expected=(
                "a folder, a list of paths (.txt), .tar or .parquet files, images, or an "
                "address such as s3://bucket/photos"
            ),
            found=source,
        )


def _in_store(address: str) -> Iterator[tuple[str, int]]:
    files = (file for file in each_in_store(address) if _is_taken(file[0]))
    for _folder, some in groupby(files, key=lambda file: file[0].rpartition("/")[0]):
        yield from _without_doubles(list(some))


def _without_doubles(files: Sequence[tuple[str, int]]) -> list[tuple[str, int]]:
    kept = {str(path) for path in without_doubles([PurePath(name) for name, _size in files])}
    return [(name, size) for name, size in files if str(PurePath(name)) in kept]


def _is_taken(name: str) -> bool:
    path = PurePath(name)
    return path.suffix.lower() in _TAKEN and not any(part.startswith(".") for part in path.parts)


def _listed(path: Path) -> Iterator[str]:
    """Yield the paths of a list, one per line; relative ones are relative to the list's folder."""
    try:
        with open_regular(path) as file:
            for line in file:
                name = os.fsdecode(line.rstrip(b"\r\n"))
                refuse_credentials(name)
                if name.strip():
                    # `Path` would normalize the name.
                    yield name if is_address(name) else os.path.join(path.parent, name)  # noqa: PTH118
    except OSError as error:
        raise StorageError("the list cannot be read", found=found_at(path, error)) from error


def _pieces(name: str, size_bytes: int | None, shard_images: int) -> Iterator[Piece]:
    suffix = PurePath(name).suffix.lower()
    if suffix == TAR:
        yield Piece(
            TAR_FILE, name, size_of(name) if size_bytes is None else size_bytes, images=None
        )
    elif suffix == PARQUET:
        yield from _of_table(
            name, size_of(name) if size_bytes is None else size_bytes, shard_images
        )
    else:
        yield Piece(IMAGE, name, size_bytes)


def _of_table(name: str, size_bytes: int, shard_images: int) -> Iterator[Piece]:
    """Yield groups of consecutive row groups with at most `shard_images` rows."""
    first, images = 0, 0
    counts = rows_by_group(name)
    for group, rows in enumerate(counts):
        if images and images + rows > shard_images:
            yield Piece(TABLE, name, size_bytes, first, group, images)
            first, images = group, 0
        images += rows
    if images:
        yield Piece(TABLE, name, size_bytes, first, len(counts), images)
