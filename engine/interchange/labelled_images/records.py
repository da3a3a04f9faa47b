"""Images with labels and predictions, as export formats write them: plain data.

The class of an image is a person's label, else the model's safe class. Formats with more fields
also have the most likely leaf, scores, annotators and times.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache, cached_property
from itertools import groupby
from pathlib import Path

from engine.file_parts import WHOLE_FILE, FilePart
from engine.files import FileFailure, PhotoDetails
from engine.graph.category_graph import CategoryGraph
from engine.graph.names import join_path
from engine.images.crops import jpeg_of_part

CropOf = Callable[[Path, FilePart], bytes]


@dataclass(frozen=True, slots=True)
class GivenLabel:
    """A person's label of an image."""

    class_id: int | None  # None for none of the classes
    who: str  # the person
    when: datetime  # time zone aware
    source: str  # where it was entered: "review", "import", ...


@dataclass(frozen=True, slots=True)
class GivenNote:
    """A person's note on an image, independent of its label."""

    stars: int  # 0..5, 0 for none
    is_flagged: bool
    comment: str  # "" for none
    who: str = ""  # the person; "" if unknown
    when: datetime | None = None  # None if unknown


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """The model's prediction for an image."""

    leaf_id: int  # the most likely leaf
    leaf_score: float  # its probability, 0..1, given that the image shows one of the classes
    safe_id: int | None  # the deepest class above its threshold; None without one, and if unknown
    safe_score: float  # its probability, 0..1; 0 without one
    is_unknown: bool  # whether the image is too far from every class


@dataclass(frozen=True, slots=True)
class LabelledImage:
    """An image of a collection, or a part of one, with its label and its prediction."""

    image_id: int
    path: str  # in the project: relative to its folder, or absolute, with "/" as separator
    file: Path  # on this computer
    content_hash: str  # BLAKE3 of the file's bytes as hex, 16 bytes; "" if it was never read
    label: GivenLabel | None
    answer: ModelAnswer | None  # labelled images may have one, too
    note: GivenNote | None = None
    sequence: str = ""  # name of its burst: images of one camera within seconds; "" for none
    part: FilePart = WHOLE_FILE
    category: str = ""  # detector category of the box, such as "animal"; "" for none
    detection_score: float | None = None  # the detector's confidence, 0..1
    is_empty: bool = False  # whether a person labelled it as empty
    count: int | None = None  # of individuals, by a person
    fields: Mapping[str, str] = field(default_factory=dict)  # custom fields of the project
    facts: Mapping[str, str] = field(default_factory=dict)  # `engine.image_fields.standard_facts`

    @property
    def class_id(self) -> int | None:
        """The label, else the safe class; None without either, and for none of the classes."""
        if self.label is not None:
            return self.label.class_id
        return None if self.answer is None else self.answer.safe_id

    @property
    def is_of_none(self) -> bool:
        """Whether it shows none of the classes."""
        if self.label is not None:
            return self.label.class_id is None and not self.is_empty
        return self.answer is not None and self.answer.is_unknown

    @property
    def is_verified(self) -> bool:
        return self.label is not None

    @property
    def score(self) -> float | None:
        """Probability of the model's `class_id`; None for a label, and without a class."""
        if self.label is not None or self.answer is None or self.answer.safe_id is None:
            return None
        return self.answer.safe_score


def by_picture(images: Iterable[LabelledImage]) -> Iterator[list[LabelledImage]]:
    """Group adjacent images of one picture: a file, page or frame."""
    for _, found in groupby(images, key=lambda image: (image.path, image.part.picture)):
        yield list(found)


@dataclass(frozen=True)
class LabelledImages:
    """A collection to be exported."""

    title: str  # the project's name
    graph: CategoryGraph  # its classes
    images: Sequence[LabelledImage]  # the exported ones; those of one file are adjacent
    made_at: datetime  # time of the predictions, time zone aware
    model: str  # name of the model; "" without predictions
    setting: str  # "ppn+", "ppn" or "prototypes"
    program: str  # name and version of this program
    folder: Path | None
    """Deepest common folder of all images of the project; None if they are on several drives."""
    facts_of: Callable[[LabelledImage], PhotoDetails]  # metadata of the file
    crop_of: CropOf = jpeg_of_part  # crops a box
    on_image: Callable[[], None] = lambda: None
    """Called after each written image; may raise `Cancelled`."""

    def each(self) -> Iterator[LabelledImage]:
        """Iterate over the images and report progress."""
        for image in self.images:
            yield image
            self.on_image()

    def pictures(self) -> Iterator[list[LabelledImage]]:
        """Iterate over the images of each picture and report progress."""
        for items in by_picture(self.images):
            yield items
            for _ in items:
                self.on_image()

    @cached_property
    def has_parts(self) -> bool:
        """Whether there are boxes, or several things in a picture."""
        return any(image.part != image.part.picture for image in self.images)

    @cached_property
    def used_classes(self) -> tuple[int, ...]:
        """The classes of images, parents before children, then by number."""
        used = {image.class_id for image in self.images if image.class_id is not None}
        return tuple(sorted(used, key=lambda each: (self.graph.level(each), each)))

    @cached_property
    def paths(self) -> Callable[[int], tuple[tuple[str, ...], ...]]:
        """Map a class to its names from the top down along each path, the main one first."""
        name, found = self.graph.name, self.graph.paths
        return cache(lambda class_id: tuple(tuple(map(name, path)) for path in found(class_id)))

    def path_text(self, class_id: int) -> str:
        r"""The main path of a class, "Animal/Bird/Gull"; "/" inside a name is escaped as "\/"."""
        return self.path_texts(class_id)[0]

    @cached_property
    def path_texts(self) -> Callable[[int], tuple[str, ...]]:
        """Map a class to all its paths as texts."""
        return cache(lambda class_id: tuple(map(join_path, self.paths(class_id))))

    @property
    def people(self) -> list[str]:
        """The annotators, sorted by name."""
        return sorted({image.label.who for image in self.images if image.label} - {""})

    @property
    def model_text(self) -> str:
        """The model as an identifier: "leafnet (ppn+), Protoleaf 1.0"."""
        setting = f" ({self.setting})" if self.setting else ""
        return f"{self.model}{setting}, {self.program}" if self.model else self.program


@dataclass(frozen=True)
class WrittenExport:
    """The result of an export."""

    images: int  # number of exported images
    left_out: dict[str, int] = field(default_factory=dict)  # skipped images: {"no class": 12}
    failures: tuple[FileFailure, ...] = ()  # files that could not be read or copied
