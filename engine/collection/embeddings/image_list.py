"""Images and labels of an open project as aligned arrays, and snapshots made of them."""

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from engine.collection.embeddings.counting import counts_of
from engine.collection.state import NO_CLASS, UNKNOWN, CollectionState, ImageStatus
from engine.project import ImageTable, Project
from engine.project.packed import PackedHashes, PackedTexts

MANY: Final = 2_000
"""Labels of more images than this are read with those of all: one by one takes longer."""


@final
class ImageList:
    """Ids, paths, content hashes and labels in ascending image id.

    Attributes:
        ids: (n,) int64.
        paths: (n,) as stored.
        content_hashes: (n,) bytes, or None before the image was read.
        has_failed: (n,) bool.
        failures: why an image could not be read, by its id; replaced, never changed.
        labels: (n,) int64, class id, `NO_CLASS` or `UNKNOWN`.
    """

    def __init__(self, project: Project) -> None:
        self._project = project
        self.ids = np.zeros(0, dtype=np.int64)
        self.paths = PackedTexts()
        self.content_hashes = PackedHashes()
        self.has_failed = np.zeros(0, dtype=bool)
        self.failures: Mapping[int, str] = {}
        self.labels = np.zeros(0, dtype=np.int64)

    def read(self) -> None:
        """Read everything from the project."""
        table = self._project.images.table()
        self.ids = np.array(table.ids, dtype=np.int64)
        self.paths = table.paths
        self.content_hashes = table.content_hashes
        self.has_failed = np.array([failure is not None for failure in table.failures], dtype=bool)
        self.failures = _failures_in(table)
        self._read_all_labels()

    def read_added(self, image_ids: Sequence[int]) -> None:
        """Read images that were added; everything where one of them was there before and came back."""
        table = self._project.images.table(image_ids)
        ids = np.array(table.ids, dtype=np.int64)
        if len(ids) == 0 or (len(self.ids) and ids[0] <= self.ids[-1]):
            self.read()
            return
        self.ids = np.concatenate([self.ids, ids])
        self.paths = self.paths.extended(table.paths)
        for content_hash in table.content_hashes:
            self.content_hashes.append(content_hash)
        has_failed = np.array([failure is not None for failure in table.failures], dtype=bool)
        self.has_failed = np.concatenate([self.has_failed, has_failed])
        self.failures = {**self.failures, **_failures_in(table)}
        self.labels = np.concatenate([self.labels, np.full(len(ids), NO_CLASS, dtype=np.int64)])
        self.read_labels(table.ids)

    def read_facts(self, image_ids: NDArray[np.int64]) -> None:
        """Read what was found out about the files of listed images."""
        table = self._project.images.table(image_ids.tolist())
        self.has_failed = self.has_failed.copy()
        places = np.searchsorted(self.ids, np.array(table.ids, dtype=np.int64)).tolist()
        for place, content_hash, failure in zip(places, table.content_hashes, table.failures, strict=True):
            self.content_hashes.replace(place, content_hash)
            self.has_failed[place] = failure is not None
        updated = frozenset(table.ids)
        kept = {image_id: failure for image_id, failure in self.failures.items() if image_id not in updated}
        self.failures = kept | _failures_in(table)

    def read_labels(self, image_ids: Sequence[int]) -> None:
        """Read the labels of some listed images; the old array stays as it was for those who hold it."""
        if len(image_ids) > MANY:
            self._read_all_labels()
            return
        self.labels = self.labels.copy()
        for image_id in image_ids:
            label = self._project.labels.of(image_id)
            code = NO_CLASS if label is None else UNKNOWN if label.class_id is None else label.class_id
            self.labels[bisect_left(self.ids, image_id)] = code

    def _read_all_labels(self) -> None:
        table = self._project.labels.table()
        self.labels = np.full(len(self.ids), NO_CLASS, dtype=np.int64)
        places = np.searchsorted(self.ids, np.array(table.image_ids, dtype=np.int64))
        self.labels[places] = [UNKNOWN if class_id is None else class_id for class_id in table.class_ids]

    def has(self, image_id: int) -> bool:
        """Whether an image is listed."""
        place = bisect_left(self.ids, image_id)
        return place < len(self.ids) and bool(self.ids[place] == image_id)

    def hashes_of(self, image_ids: Sequence[int] | NDArray[np.int64]) -> list[bytes | None]:
        """Content hashes of listed images."""
        return [self.content_hashes[place] for place in np.searchsorted(self.ids, image_ids).tolist()]

    def labels_of(self, image_ids: NDArray[np.int64]) -> NDArray[np.int64]:
        """Labels of listed images."""
        return self.labels[np.searchsorted(self.ids, image_ids)]

    def labelled(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Image ids and class ids of all images a person gave a class."""
        places = np.flatnonzero(self.labels >= 0)
        return self.ids[places], self.labels[places]

    def label_items(self) -> Iterator[tuple[int, int]]:
        """Pairs (image id, class id) of all images a person gave a class."""
        image_ids, class_ids = self.labelled()
        return zip(image_ids.tolist(), class_ids.tolist(), strict=True)

    def blank_state(self, model_name: str) -> CollectionState:
        """A snapshot before anything was classified."""
        count = len(self.ids)
        status = np.full(count, ImageStatus.WAITING, dtype=np.uint8)
        status[self.has_failed] = ImageStatus.FAILED
        none = np.full(count, NO_CLASS, dtype=np.int64)
        zeros = np.zeros(count, dtype=np.float32)
        return CollectionState(
            folder=self._project.path.parent, image_ids=self.ids, paths=self.paths, label_class=self.labels,
            best_class=none, best_score=zeros, safe_class=none, safe_score=zeros,
            is_unknown=np.zeros(count, dtype=bool), status=status,
            shot_counts=counts_of(self.labels), image_counts={}, model_name=model_name,
            failures=self.failures, is_list_only=True,
        )  # fmt: skip


def _failures_in(table: ImageTable) -> dict[int, str]:
    return {image_id: failure for image_id, failure in zip(table.ids, table.failures, strict=True) if failure}
