"""Images with the labels of people and the predictions of the model, as formats write and read them: plain data.

The class of an image is a person's label, else the model's safe class. Formats that hold more also carry the most
likely leaf, scores, annotators and times.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache, cached_property
from itertools import groupby
from pathlib import Path

from engine.file_parts import WHOLE_FILE, FilePart
from engine.files import FileFailure, PhotoFacts
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
    source: str  # by which way it came into the project: "review", "import", ...


@dataclass(frozen=True, slots=True)
class GivenNote:
    """What a person noted of an image, beside its label."""

    stars: int  # 0..5, 0 for none
    is_flagged: bool
    comment: str  # "" for none
    who: str = ""  # the person; "" where nothing tells
    when: datetime | None = None  # None where nothing tells


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """The model's prediction for an image."""

    leaf_id: int  # the most likely leaf
    leaf_score: float  # its probability, 0..1, given that the image shows one of the classes
    safe_id: (
        int | None
    )  # deepest class that passes its bar; None where none does, or the image seems to be of none
    safe_score: float  # its probability, 0..1; 0 without one
    is_unknown: bool  # whether it is too far from every class


@dataclass(frozen=True, slots=True)
class LabelledImage:
    """An image of a collection, or a part of one, with its label and its prediction."""

    image_id: int  # the project's number of it
    path: str  # as the project has it: relative to its folder, or absolute, with "/" between
    file: Path  # where it is on this computer
    content_hash: str  # BLAKE3 of the file's bytes as hex, 16 bytes; "" where it was never read
    label: GivenLabel | None  # a person's; None without one
    answer: ModelAnswer | None  # the model's, also beside a label; None where it has none
    note: GivenNote | None = None  # a person's; None without one
    sequence: str = (
        ""  # name of the shots that it was taken among, by one camera within seconds; "" for none
    )
    part: FilePart = WHOLE_FILE  # of the file; the default is all of it
    category: str = ""  # what a detector calls the thing in the box, such as "animal"; "" for none
    detection_score: float | None = None  # the detector's confidence, 0..1
    is_empty: bool = False  # whether a person's label says that nothing is there
    count: int | None = None  # how many a person counted
    fields: Mapping[str, str] = field(default_factory=dict)  # the project's own fields, by name
    facts: Mapping[str, str] = field(
        default_factory=dict
    )  # see `engine.image_fields.standard_facts`

    @property
    def class_id(self) -> int | None:
        """The person's class, else the safe class; None for neither, and for none of the classes."""
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
        """Probability of a `class_id` of the model; None for a person's label and without a class."""
        if self.label is not None or self.answer is None or self.answer.safe_id is None:
            return None
        return self.answer.safe_score


def by_picture(images: Iterable[LabelledImage]) -> Iterator[list[LabelledImage]]:
    """Images, of which those of one picture (file, page or frame) are adjacent, by picture."""
    for _, found in groupby(images, key=lambda image: (image.path, image.part.picture)):
        yield list(found)


@dataclass(frozen=True)
class LabelledImages:
    """A collection as it is written into a format."""

    title: str  # the project's name
    graph: CategoryGraph  # its classes
    images: Sequence[
        LabelledImage
    ]  # those that are to be written, and no others; those of one file are adjacent
    made_at: datetime  # when this was gathered: the time of the model's answers; time zone aware
    model: str  # name of the model; "" where it was not asked
    setting: str  # "ppn+", "ppn" or "prototypes"
    program: str  # name and version of this program
    folder: Path | None
    """The deepest folder that all images of the project lie in or below, also those that are not written; None where
    they are on several drives."""
    facts_of: Callable[[LabelledImage], PhotoFacts]  # what is known of an image's file
    crop_of: CropOf = jpeg_of_part  # cuts a box out of an image's file
    on_image: Callable[[], None] = lambda: (
        None
    )  # called after each image that was written; may raise `Cancelled`

    def each(self) -> Iterator[LabelledImage]:
        """The images one after the other, with progress reported."""
        for image in self.images:
            yield image
            self.on_image()

    def pictures(self) -> Iterator[list[LabelledImage]]:
        """The images of one picture at a time, with progress reported."""
        for items in by_picture(self.images):
            yield items
            for _ in items:
                self.on_image()

    @cached_property
    def has_parts(self) -> bool:
        """Whether there are boxes, or several things in one picture."""
        return any(image.part != image.part.picture for image in self.images)

    @cached_property
    def used_classes(self) -> tuple[int, ...]:
        """The classes of images, parents before children, then by number."""
        used = {image.class_id for image in self.images if image.class_id is not None}
        return tuple(sorted(used, key=lambda each: (self.graph.level(each), each)))

    @cached_property
    def paths(self) -> Callable[[int], tuple[tuple[str, ...], ...]]:
        """Gives names from the top down to a class along every path, the main one first."""
        name, found = self.graph.name, self.graph.paths
        return cache(lambda class_id: tuple(tuple(map(name, path)) for path in found(class_id)))

    def path_text(self, class_id: int) -> str:
        r"""A class's first path as text, "Animal/Bird/Gull"; "/" inside a name is written "\/"."""
        return self.path_texts(class_id)[0]

    @cached_property
    def path_texts(self) -> Callable[[int], tuple[str, ...]]:
        """Gives the same for every path of a class."""
        return cache(lambda class_id: tuple(map(join_path, self.paths(class_id))))

    @property
    def people(self) -> list[str]:
        """The annotators, by name."""
        return sorted(
            {
                image.label.who
                for image in self.images
                if image.label is not None and image.label.who
            }
        )

    @property
    def model_text(self) -> str:
        """The model as the one that identified: "leafnet (ppn+), Protoleaf 1.0"."""
        setting = f" ({self.setting})" if self.setting else ""
        return f"{self.model}{setting}, {self.program}" if self.model else self.program


@dataclass(frozen=True)
class WrittenExport:
    """The result of an export."""

    images: int  # how many are in it
    left_out: dict[str, int] = field(
        default_factory=dict
    )  # why images are not in it, with how many: {"no class": 12}
    failures: tuple[FileFailure, ...] = ()  # files that could not be read or copied
