"""Memory-mapped list of the images of a large project, for its next opening."""

import json
import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple, final

import numpy as np

from engine.everyday.blocks import Integers
from engine.kept_files import KeptFiles, mapped_parts, write_parts
from engine.new_file import write_file
from engine.project.packed import PackedHashes, PackedTexts, packed_text, unpacked_text
from engine.project.schema import LONGEST_TEXT

SUFFIX: Final = ".list"  # of files of lists
DIGEST_SUFFIX: Final = ".digest"  # of a small file next to a list: digest of its project
MOST_BYTES: Final = 2 << 30  # of the lists of all projects; that of 2.5 million images takes 200 MB
_MAGIC: Final = b"protoleaf list 2"
_log = logging.getLogger(__name__)


class ListedImages(NamedTuple):
    """The images of a project, n of them in ascending id order.

    Attributes:
        ids: (n,) int64.
        paths: (n,) as stored.
        parts: (n,) of the files.
        content_hashes: (n,) bytes of the images, or None before the image was read.
        failures: reasons of unreadable images, by place; "" if unknown.
    """

    ids: Integers
    paths: PackedTexts
    parts: PackedTexts
    content_hashes: PackedHashes
    failures: Mapping[int, str]


@final
class MappedImageList:
    """Memory-mapped list of the images of a large project, from when it was closed.

    It replaces the project's tables only if the project's digest proves that nothing has changed.
    May be deleted at any time.
    """

    def __init__(self, folder: Path, name: str) -> None:
        self._files = KeptFiles(folder, name, SUFFIX, MOST_BYTES)
        self._checksum = ""  # of the list that was read or written last

    def read(self, digest: bytes | None) -> ListedImages | None:
        """Map the list of a project with this digest; None if missing, foreign or damaged."""
        path = self._files.newest() if digest is not None else None
        if path is None:
            return None
        try:
            found, checksum = _mapped(path)
            is_ours = _digest_file(path).read_bytes() == _bound(digest or b"", checksum)
        except (OSError, ValueError, KeyError, TypeError) as error:
            _log.info("a kept list of images cannot be used: %s", error)
            return None
        self._checksum = checksum if is_ours else ""
        return found if is_ours else None

    def write(self, listed: ListedImages, digest: bytes, *, is_other: bool) -> None:
        """Store a list for a project with this digest; errors of the disk are only logged.

        Args:
            listed: the images.
            digest: of the project file.
            is_other: whether the list differs from the one read or written last; if not, only the
                digest is written, unless the file was replaced, as by another project of the same
                path.
        """
        try:
            path = None if is_other else self._as_read()
            if path is None:
                parts = _parts(listed)
                path = self._files.write(
                    sum(map(len, parts)), lambda file: write_parts(file, _MAGIC, parts)
                )
                if path is None:
                    return
                self._checksum = _mapped(path)[1]
            write_file(_digest_file(path), _bound(digest, self._checksum))
            for other in path.parent.glob(f"*{DIGEST_SUFFIX}"):
                if not other.with_suffix(SUFFIX).exists():
                    other.unlink(missing_ok=True)
        except (OSError, ValueError, KeyError, TypeError) as error:
            _log.info("a list of images cannot be kept: %s", error)

    def _as_read(self) -> Path | None:
        """The file, if it is still the list that was read."""
        path = self._files.newest()
        try:
            return path if path is not None and _mapped(path)[1] == self._checksum else None
        except (OSError, ValueError, KeyError, TypeError):
            return None


def _digest_file(path: Path) -> Path:
    return path.with_suffix(DIGEST_SUFFIX)


def _bound(digest: bytes, checksum: str) -> bytes:
    """Digest of a project with the checksum of its list: neither is valid with another."""
    return digest + bytes.fromhex(checksum)


def _parts(listed: ListedImages) -> list[bytes | memoryview]:
    failures = {
        str(place): packed_text(text, LONGEST_TEXT) for place, text in listed.failures.items()
    }
    packed = listed.paths, listed.parts, listed.content_hashes
    columns = (
        np.ascontiguousarray(listed.ids).data,
        *(column for each in packed for column in each.columns),
    )
    return [*(each.cast("B") for each in columns), json.dumps(failures).encode()]


def _mapped(path: Path) -> tuple[ListedImages, str]:
    """Map a list; return it and its checksum."""
    parts, checksum = mapped_parts(path, _MAGIC)
    ids, paths, path_ends, file_parts, part_ends, hashes, hash_ends, failures = parts
    found = ListedImages(
        np.frombuffer(ids, dtype=np.int64),
        PackedTexts(paths, path_ends.cast("Q")),
        PackedTexts(file_parts, part_ends.cast("Q")),
        PackedHashes(hashes, hash_ends.cast("Q")),
        {
            int(place): unpacked_text(text) or ""
            for place, text in json.loads(bytes(failures)).items()
        },
    )
    return found, checksum
