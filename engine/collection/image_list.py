"""Images, labels and embeddings of an open project as arrays."""

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from typing import final

import numpy as np
from numpy.typing import NDArray

from engine.arrays import Flags, Floats, Integers, no_flags, no_integers
from engine.collection.folding.partitions import items_by_file, pictures_with_boxes
from engine.collection.image_list_cache import ImageListCache, ListedImages
from engine.collection.state import BOXED, NO_CLASS, Codes, CollectionState, ImageStatus, counts_of
from engine.embedding.embedding_rows import EmbeddingRows, codes_of
from engine.embedding.views import unit_length
from engine.everyday.blocks import to_fixed, to_floats
from engine.project import ImageTable, Project
from engine.project.packed import PackedHashes, PackedTexts
from engine.project.records import Label

MANY = 2_000  # labels above which all are read: that is faster than one by one
FIRST_CAPACITY = 1024
GROWTH = 1.25
FILL_ROWS = 4096

# hashes to embeddings (n, d), and whether each was found (n,)
LookUp = Callable[[Sequence[bytes]], tuple[NDArray[np.float16], Flags]]


@final
class ImageList:
    """Ids, paths, content hashes and labels; arrays are replaced, never changed in place."""

    def __init__(self, project: Project, kept: ImageListCache | None = None) -> None:
        self._project = project
        self._kept = kept
        self._is_stored = False  # whether the stored list is current
        self.ids = no_integers()  # (n,) ascending
        self.paths = PackedTexts()  # (n,) as stored
        self.parts = PackedTexts()  # (n,) of the files
        # (n,) bytes of the images, or None before the image was read
        self.content_hashes = PackedHashes()
        self.has_failed = no_flags()  # (n,)
        self.failures: Mapping[int, str] = {}  # reasons of unreadable images, by id
        # (n,) class ids, or codes of `engine.graph.codes`
        self.labels: Codes = np.zeros(0, dtype=np.int32)
        self.items: Mapping[str, Mapping[int, str]] = {}  # as `items_by_file`
        self._is_boxed = no_flags()  # (n,) whether there are boxes in the image
        self.outdated: Mapping[int, Label] = {}  # outdated labels, of replaced pictures

    def read(self) -> None:
        found = self._kept.read(self._project.digest) if self._kept is not None else None
        self._is_stored = found is not None
        if found is None:
            table = self._project.images.table()
            ids = np.array(table.ids, dtype=np.int64)
            found = ListedImages(
                ids, table.paths, table.parts, table.contents(), table.failures.texts
            )
        self.ids, self.paths, self.parts, self.content_hashes = found[:4]
        self.has_failed = np.zeros(len(found.ids), dtype=bool)
        self.has_failed[list(found.failures)] = True
        self.failures = {
            int(found.ids[place]): text for place, text in found.failures.items() if text
        }
        self.items = items_by_file(self.ids.tolist(), self.paths, self.known_parts)
        self._is_boxed = np.zeros(len(self.ids), dtype=bool)
        self._mark_boxed(self.items)
        self._read_all_labels()

    def keep(self, digest: bytes) -> None:
        """Store the list for the next opening of the project with this digest."""
        if self._kept is None:
            return
        places = np.flatnonzero(self.has_failed)
        failures = {place: self.failures.get(int(self.ids[place]), "") for place in places.tolist()}
        listed = ListedImages(self.ids, self.paths, self.parts, self.content_hashes, failures)
        self._kept.write(listed, digest, has_changed=not self._is_stored)

    def read_added(self, image_ids: Sequence[int]) -> None:
        """Read added images; everything if one of them was restored."""
        table = self._project.images.table(image_ids)
        self._is_stored, ids = False, np.array(table.ids, dtype=np.int64)
        if len(ids) == 0 or (len(self.ids) and ids[0] <= self.ids[-1]):
            self.read()
            return
        self.ids = np.concatenate([self.ids, ids])
        self.paths, self.parts = self.paths.extended(table.paths), self.parts.extended(table.parts)
        for content_hash in table.contents():
            self.content_hashes.append(content_hash)
        self.has_failed = np.concatenate([self.has_failed, _has_failed(table)])
        self.failures = {**self.failures, **_failures_in(table)}
        self.labels = np.concatenate([self.labels, np.full(len(ids), NO_CLASS, dtype=np.int32)])
        self._is_boxed = np.concatenate([self._is_boxed, np.zeros(len(ids), dtype=bool)])
        self._read_items_of_files(table)
        self.read_labels(table.ids)

    def read_facts(self, image_ids: Integers) -> None:
        table = self._project.images.table(image_ids.tolist())
        self._is_stored, self.has_failed = False, self.has_failed.copy()
        places = np.searchsorted(self.ids, np.array(table.ids, dtype=np.int64)).tolist()
        for place, content_hash, failure in zip(
            places, table.contents(), table.failures, strict=True
        ):
            self.content_hashes.replace(place, content_hash)
            self.has_failed[place] = failure is not None
        updated = frozenset(table.ids)
        kept = {
            image_id: failure
            for image_id, failure in self.failures.items()
            if image_id not in updated
        }
        self.failures = kept | _failures_in(table)

    def read_labels(self, image_ids: Sequence[int]) -> None:
        if len(image_ids) > MANY:
            self._read_all_labels()
            return
        self.labels, self.outdated = self.labels.copy(), self._project.labels.outdated()
        for image_id in image_ids:
            label = self._project.labels.of(image_id)
            self.labels[bisect_left(self.ids, image_id)] = NO_CLASS if label is None else label.code
        self.labels = self._with_boxed(self.labels)

    def _read_all_labels(self) -> None:
        table = self._project.labels.table()
        self.labels = np.full(len(self.ids), NO_CLASS, dtype=np.int32)
        places = np.searchsorted(self.ids, np.array(table.image_ids, dtype=np.int64))
        self.labels[places] = table.codes
        self.labels = self._with_boxed(self.labels)
        self.outdated = self._project.labels.outdated()

    def _read_items_of_files(self, table: ImageTable) -> None:
        """Read the other images of the files of added images."""
        paths = {
            path
            for path, part in zip(table.paths, table.parts, strict=True)
            if part or path in self.items
        }
        folder = self._project.path.parent
        found = {path: self._project.images.parts_of(folder / path) for path in paths}
        self.items = {
            **self.items,
            **{path: items for path, items in found.items() if len(items) > 1},
        }
        self._mark_boxed(found)

    def _mark_boxed(self, items: Mapping[str, Mapping[int, str]]) -> None:
        boxed = [
            image_id for of_file in items.values() for image_id in pictures_with_boxes(of_file)
        ]
        self._is_boxed[np.searchsorted(self.ids, np.array(boxed, dtype=np.int64))] = True

    def _with_boxed(self, labels: Codes) -> Codes:
        """Codes (n,), with `BOXED` for unlabelled pictures with boxes."""
        if not self.items:
            return labels
        return np.where(self._is_boxed & (labels == NO_CLASS), np.int32(BOXED), labels)

    def has(self, image_id: int) -> bool:
        place = bisect_left(self.ids, image_id)
        return place < len(self.ids) and bool(self.ids[place] == image_id)

    def listed(self, image_ids: Sequence[int]) -> Integers:
        """Those of some images that are listed, ascending; faster than `np.intersect1d`."""
        wanted = np.unique(np.array(image_ids, dtype=np.int64))
        places = np.minimum(np.searchsorted(self.ids, wanted), len(self.ids) - 1)
        return wanted[self.ids[places] == wanted] if len(self.ids) else wanted[:0]

    @property
    def known_parts(self) -> Sequence[str]:
        """(n,) parts of the files; () if all images are whole files."""
        return self.parts if len(self.parts.columns[0]) else ()

    @property
    def content_keys(self) -> NDArray[np.bytes_]:
        """(n,) content hashes as an array to search and sort; empty before the image was read."""
        whole, length = self.content_hashes.padded()
        return np.frombuffer(whole, dtype=f"S{length}")

    @property
    def content_codes(self) -> NDArray[np.uint64]:
        """(n,) first 8 bytes of content hashes; 0 before the image was read."""
        return codes_of(self.content_keys)

    def hashes_of(self, image_ids: Sequence[int] | Integers) -> list[bytes | None]:
        return [
            self.content_hashes[place] for place in np.searchsorted(self.ids, image_ids).tolist()
        ]

    def labels_of(self, image_ids: Integers) -> Codes:
        return self.labels[np.searchsorted(self.ids, image_ids)]

    def labelled_as(self, class_id: int) -> list[int]:
        """Ids of the images labelled with exactly this class."""
        return self.ids[self.labels == class_id].tolist()

    def blank_state(self, model_name: str) -> CollectionState:
        count = len(self.ids)
        status = np.full(count, ImageStatus.WAITING, dtype=np.uint8)
        status[self.has_failed] = ImageStatus.FAILED
        none = np.full(count, NO_CLASS, dtype=np.int32)
        zeros = np.zeros(count, dtype=np.float32)
        return CollectionState(
            folder=self._project.path.parent,
            image_ids=self.ids,
            label_class=self.labels,
            paths=self.paths,
            parts=self.known_parts,
            items=self.items,
            best_class=none,
            best_score=zeros,
            safe_class=none,
            safe_score=zeros,
            is_unknown=np.zeros(count, dtype=bool),
            status=status,
            shot_counts=counts_of(self.labels),
            image_counts={},
            model_name=model_name,
            failures=self.failures,
            outdated=self.outdated,
            is_list_only=True,
        )


def _failures_in(table: ImageTable) -> dict[int, str]:
    return {table.ids[place]: failure for place, failure in table.failures.texts.items() if failure}


def _has_failed(table: ImageTable) -> Flags:
    found = np.zeros(len(table.ids), dtype=bool)
    found[list(table.failures.texts)] = True
    return found


class EmbeddingStore:
    """Unit-length embeddings (rows, d) in fixed point, in ascending image id; rows are stable."""

    def __init__(self, width: int) -> None:
        self._ids = no_integers()
        self._rows = np.zeros((FIRST_CAPACITY, width), dtype=np.int16)
        self.is_filled = no_flags()  # (rows,); replaced, never changed in place
        self.age = 0  # number of changes of rows
        # (rows,) age at the last change of each row; 0 for empty ones
        self.filled_at = np.zeros(0, dtype=np.int32)
        # (rows,) first 8 bytes of content hashes; replaced, never changed in place
        self.contents = np.zeros(0, dtype=np.uint64)

    @property
    def image_ids(self) -> Integers:
        """(rows,) ascending."""
        return self._ids

    @property
    def embeddings(self) -> NDArray[np.int16]:
        """(rows, d) in fixed point; zeros if not filled."""
        return self._rows[: len(self._ids)]

    def rows_of(self, image_ids: Sequence[int] | Integers) -> Integers | None:
        """Rows of these images, or None if one has no row."""
        wanted = np.asarray(image_ids, dtype=np.int64)
        if np.array_equal(wanted, self._ids):
            return np.arange(len(wanted), dtype=np.int64)
        rows = np.searchsorted(self._ids, wanted)
        inside = np.minimum(rows, max(len(self._ids) - 1, 0))
        if len(wanted) and (len(self._ids) == 0 or (self._ids[inside] != wanted).any()):
            return None
        return rows.astype(np.int64, copy=False)

    def floats(self, rows: Integers) -> Floats:
        return to_floats(self._rows[rows])

    def adopt(self, kept: EmbeddingRows, image_ids: Integers, contents: NDArray[np.uint64]) -> None:
        """Take over mapped rows for images (n,) with these contents; rows of others stay empty.

        Rows are used in place, unless images were removed: then the others are copied.
        """
        count = len(kept.image_ids)
        place = np.minimum(np.searchsorted(kept.image_ids, image_ids), count - 1)
        is_kept = (
            (kept.image_ids[place] == image_ids)
            & (kept.contents[place] == contents)
            & kept.is_filled[place]
        )
        others = np.flatnonzero(~is_kept)
        if count <= len(image_ids) <= len(kept.embeddings) and np.array_equal(
            image_ids[:count], kept.image_ids
        ):
            self._rows, others = kept.embeddings, others[others < count]
        else:
            self._rows = np.zeros(
                (int(len(image_ids) * GROWTH) + 1, self._rows.shape[1]), dtype=np.int16
            )
            np.take(kept.embeddings, place, axis=0, out=self._rows[: len(image_ids)])
        self._rows[others] = 0
        self.append(image_ids)
        self.is_filled, self.age = is_kept, 1
        is_whole = count == len(image_ids) and bool(is_kept.all())
        self.contents = (
            kept.contents if is_whole else np.where(is_kept, contents, 0).astype(np.uint64)
        )
        self.filled_at[is_kept] = self.age

    def append(self, image_ids: Integers) -> None:
        """Reserve rows for images of higher ids, without touching their memory."""
        count = len(self._ids) + len(image_ids)
        if count > len(self._rows):
            grown = np.zeros(
                (max(FIRST_CAPACITY, int(count * GROWTH)), self._rows.shape[1]), dtype=np.int16
            )
            filled = np.flatnonzero(self.is_filled)
            if len(filled):
                grown[: filled[-1] + 1] = self._rows[: filled[-1] + 1]
            self._rows = grown
        self._ids = np.concatenate([self._ids, image_ids]) if len(self._ids) else image_ids
        self.is_filled = np.concatenate([self.is_filled, np.zeros(len(image_ids), dtype=bool)])
        self.filled_at = np.concatenate([self.filled_at, np.zeros(len(image_ids), dtype=np.int32)])
        self.contents = np.concatenate([self.contents, np.zeros(len(image_ids), dtype=np.uint64)])

    def fill(self, rows: Integers, hashes: Sequence[bytes | None], look_up: LookUp) -> Integers:
        """Look embeddings up; return the rows that were found. The others become empty."""
        filled, lost, before = [], self.is_filled[rows], self.contents
        self.is_filled, self.age = self.is_filled.copy(), self.age + 1
        known = np.flatnonzero([content is not None for content in hashes])
        for start in range(0, len(known), FILL_ROWS):
            part = known[start : start + FILL_ROWS]
            wanted = [hashes[place] or b"" for place in part.tolist()]
            vectors, found = look_up(wanted)
            lost[part[found]] = False
            self._set_contents(rows[part], codes_of(wanted), before)
            self._put(rows[part[found]], to_fixed(unit_length(vectors[found].astype(np.float32))))
            filled.append(rows[part[found]])
        self._rows[rows[lost]] = 0
        self.is_filled[rows[lost]] = False
        self.filled_at[rows[lost]] = self.age
        return np.concatenate(filled) if filled else no_integers()

    def _set_contents(
        self, rows: Integers, contents: NDArray[np.uint64], before: NDArray[np.uint64]
    ) -> None:
        """Set contents (k,); `before` is copied once, and only for a change."""
        if not np.array_equal(self.contents[rows], contents):
            if self.contents is before:
                self.contents = before.copy()
            self.contents[rows] = contents

    def _put(self, rows: Integers, embeddings: NDArray[np.int16]) -> None:
        is_new = ~self.is_filled[rows]
        again = np.flatnonzero(~is_new)
        is_new[again] = (self._rows[rows[again]] != embeddings[again]).any(axis=1)
        self._rows[rows[is_new]] = embeddings[is_new]
        self.filled_at[rows[is_new]] = self.age
        self.is_filled[rows] = True
