"""The image list of a large collection when its project was closed, mapped at the next opening.

It replaces the project's tables only where the checksum of the project is unchanged. The files may
be deleted at any time.
"""

import json
import logging
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple, final

import numpy as np

from engine.arrays import Integers
from engine.mapped_cache import Arrays, MappedArrays, MappedCache
from engine.new_file import write_file
from engine.project.packed import PackedHashes, PackedTexts, packed_text, unpacked_text
from engine.project.schema import LONGEST_TEXT

SUFFIX = ".list"
DIGEST_SUFFIX = ".digest"  # of a small file: the state of the project that the list is of
LIMIT_BYTES = 2 << 30  # of the lists of all projects; 2.5 million images take 200 MB
_log = logging.getLogger(__name__)


class ListedImages(NamedTuple):
    """The images of a project, n of them in ascending id order.

    Attributes:
        ids: (n,) int64.
        paths: (n,) as stored.
        parts: (n,) of the files.
        content_hashes: (n,) bytes of the images, or None before the image was read.
        failures: why images could not be read, by their places; "" where unknown.
    """

    ids: Integers
    paths: PackedTexts
    parts: PackedTexts
    content_hashes: PackedHashes
    failures: Mapping[int, str]


@final
class ImageListCache:
    """The list of one project."""

    def __init__(self, folder: Path, name: str) -> None:
        self._cache = MappedCache(folder, name, SUFFIX, LIMIT_BYTES)
        self._checksum = b""  # of the list that was last read or written

    def read(self, digest: bytes | None) -> ListedImages | None:
        """Map the list of a project with this digest; None where there is none that is sound."""
        found = self._cache.read() if digest is not None else None
        if found is None:
            return None
        try:
            is_ours = _digest_file(found).read_bytes() == (digest or b"") + found.checksum
            listed = _listed(found.arrays)
        except (OSError, ValueError, KeyError, TypeError) as error:
            _log.info("a cached list of images cannot be used: %s", error)
            return None
        self._checksum = found.checksum if is_ours else b""
        return listed if is_ours else None

    def write(self, listed: ListedImages, digest: bytes, *, has_changed: bool) -> None:
        """Write a list for a project with this digest; an error of the disk is only logged.

        Args:
            has_changed: whether the list is not the one that was last read or written. Else only
                the digest is written, unless another project has replaced the file meanwhile.
        """
        found = None if has_changed else self._cache.read()
        if found is None or found.checksum != self._checksum:
            found = self._cache.read() if self._cache.write(_arrays(listed)) else None
        if found is None:
            return
        self._checksum = found.checksum
        try:
            write_file(_digest_file(found), digest + found.checksum)
            for other in found.path.parent.glob(f"*{DIGEST_SUFFIX}"):
                if not other.with_suffix(SUFFIX).exists():
                    other.unlink(missing_ok=True)
        except OSError as error:
            _log.info("a list of images cannot be cached: %s", error)


def _digest_file(found: MappedArrays) -> Path:
    return found.path.with_suffix(DIGEST_SUFFIX)


def _arrays(listed: ListedImages) -> Arrays:
    failures = {
        str(place): packed_text(text, LONGEST_TEXT) for place, text in listed.failures.items()
    }
    arrays: Arrays = {
        "ids": listed.ids,
        "failures": np.frombuffer(json.dumps(failures).encode(), np.uint8),
    }
    for name in ("paths", "parts", "content_hashes"):
        values, ends = getattr(listed, name).columns
        arrays[name] = np.frombuffer(values, np.uint8)
        arrays[f"{name}_ends"] = np.frombuffer(ends, np.uint64)
    return arrays


def _listed(arrays: Arrays) -> ListedImages:
    failures = json.loads(arrays["failures"].tobytes()).items()
    return ListedImages(
        arrays["ids"],
        PackedTexts(arrays["paths"].data, arrays["paths_ends"].data),
        PackedTexts(arrays["parts"].data, arrays["parts_ends"].data),
        PackedHashes(arrays["content_hashes"].data, arrays["content_hashes_ends"].data),
        {int(place): unpacked_text(text) or "" for place, text in failures},
    )
