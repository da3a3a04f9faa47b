"""Images of an export as columns; records are made lazily, to bound memory."""

from array import array
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import final, overload

import numpy as np
from numpy.typing import NDArray

from engine.arrays import Flags, Floats, Integers
from engine.collection.state import NO_CLASS
from engine.file_parts import file_part
from engine.image_fields import COUNT, ImageField, standard_facts
from engine.images.read_file import file_hash
from engine.interchange.labelled_images.records import (
    GivenLabel,
    GivenNote,
    LabelledImage,
    ModelAnswer,
)
from engine.project import ImageTable
from engine.project.records import NO_ORIGIN, BoxOrigin


@final
@dataclass(frozen=True)
class ModelAnswers(Mapping[int, ModelAnswer]):
    """Predictions for n images, by image id.

    Attributes:
        image_ids: (n,) int64, ascending.
        leaf, leaf_score: (n,) class id, `NO_CLASS` without a prediction, and its probability.
        safe, safe_score: (n,) class id, `NO_CLASS` without a safe class, and its probability.
        is_unknown: (n,) bool, out-of-distribution.
    """

    image_ids: Integers
    leaf: NDArray[np.integer]
    leaf_score: Floats
    safe: NDArray[np.integer]
    safe_score: Floats
    is_unknown: Flags

    def __getitem__(self, image_id: int) -> ModelAnswer:
        place = int(self.image_ids.searchsorted(image_id))
        if (
            place == len(self.image_ids)
            or self.image_ids[place] != image_id
            or self.leaf[place] == NO_CLASS
        ):
            raise KeyError(image_id)
        is_unknown = bool(self.is_unknown[place])
        safe_id = None if is_unknown or self.safe[place] == NO_CLASS else int(self.safe[place])
        safe_score = 0.0 if safe_id is None else float(self.safe_score[place])
        return ModelAnswer(
            int(self.leaf[place]), float(self.leaf_score[place]), safe_id, safe_score, is_unknown
        )

    def __iter__(self) -> Iterator[int]:
        return iter(self.image_ids[self.leaf != NO_CLASS].tolist())

    def __len__(self) -> int:
        return int((self.leaf != NO_CLASS).sum())


@final
@dataclass(frozen=True)
class GatheredImages(Sequence[LabelledImage]):
    """Images of a project with labels, notes and predictions."""

    table: ImageTable
    folder: Path  # of the project
    labels: Mapping[int, GivenLabel]  # by image id, as the next ones
    notes: Mapping[int, GivenNote]
    answers: Mapping[int, ModelAnswer]
    sequences: Mapping[int, str]
    detections: Mapping[int, BoxOrigin]
    empty: frozenset[int]  # images labelled as empty
    values: Mapping[int, Mapping[str, str]]  # of fields, by name
    fields: Sequence[ImageField]  # the project's own
    places: Sequence[int] = ()  # rows of the table
    _hashes: dict[int, str] = field(default_factory=dict)  # of files that were read, by image id

    def chosen(
        self, is_wanted: Callable[[LabelledImage], bool], only: Container[int] | None
    ) -> "GatheredImages":
        """Select images of the whole table."""
        ids = self.table.ids
        near = (place for place in self._by_file() if only is None or ids[place] in only)
        return replace(
            self, places=array("q", (place for place in near if is_wanted(self._at(place))))
        )

    def _by_file(self) -> Iterable[int]:
        """All rows, by id, but with the images of a file in sequence, the whole file first."""
        places = range(len(self.table.ids))
        if not self.table.has_parts:
            return places
        first: dict[str, int] = {}
        for place in places:
            first.setdefault(self.table.paths[place], place)
        parts = [file_part(part) for part in self.table.parts]
        return sorted(
            places,
            key=lambda place: (
                first[self.table.paths[place]],
                parts[place].page or 0,
                parts[place].seconds or 0.0,
                parts[place] != parts[place].picture,
                place,
            ),
        )

    def __len__(self) -> int:
        return len(self.places)

    @overload
    def __getitem__(self, place: int) -> LabelledImage: ...
    @overload
    def __getitem__(self, place: slice) -> "GatheredImages": ...
    def __getitem__(self, place: int | slice) -> "LabelledImage | GatheredImages":
        if isinstance(place, slice):
            return replace(self, places=self.places[place])
        image = self._at(self.places[place])
        return (
            image
            if image.label is None or image.content_hash
            else replace(image, content_hash=self._read(image))
        )

    def _at(self, place: int) -> LabelledImage:
        image_id, path, content_hash = (
            self.table.ids[place],
            self.table.paths[place],
            self.table.content_hashes[place],
        )
        found = self.detections.get(image_id, NO_ORIGIN)
        values = self.values.get(image_id, {})
        return LabelledImage(
            image_id,
            path,
            self.folder / path,
            content_hash.hex() if content_hash else "",
            self.labels.get(image_id),
            self.answers.get(image_id),
            self.notes.get(image_id),
            self.sequences.get(image_id, ""),
            part=file_part(self.table.parts[place]),
            category=found.category,
            detection_score=found.score,
            is_empty=image_id in self.empty,
            count=int(values[COUNT.name]) if COUNT.name in values else None,
            fields={name: value for name, value in values.items() if name != COUNT.name},
            facts=standard_facts(self.fields, values),
        )

    def _read(self, image: LabelledImage) -> str:
        """Content hash of an image that was labelled before it was read."""
        if image.image_id not in self._hashes:
            self._hashes[image.image_id] = _hash_of(image.file)
        return self._hashes[image.image_id]


def _hash_of(file: Path) -> str:
    try:
        return file_hash(file).hex() if file.is_file() else ""
    except OSError:
        return ""
