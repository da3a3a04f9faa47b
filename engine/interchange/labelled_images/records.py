"""Images with what people and the model say of them, as formats write and read them: plain data, no project.

What an image *is said to be* is one class or none: a person's label, else the model's safe class. Formats that hold
more also carry the likeliest leaf, scores, and who said what and when.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from pathlib import Path

from engine.files import FileFailure, PhotoFacts
from engine.graph.category_graph import CategoryGraph
from engine.graph.names import join_path


@dataclass(frozen=True, slots=True)
class GivenLabel:
    """What a person said of an image.

    Attributes:
        class_id: None for none of the classes.
        who: the person.
        when: time zone aware.
        source: by which way it came into the project: "review", "import", ...
    """

    class_id: int | None
    who: str
    when: datetime
    source: str


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """What the model says of an image.

    Attributes:
        leaf_id: the likeliest leaf.
        leaf_score: its probability, 0..1, given that the image shows one of the classes.
        safe_id: deepest class that passes its bar; None where none does, or the image seems to be of none.
        safe_score: its probability, 0..1; 0 without one.
        is_unknown: whether it is too far from every class.
    """

    leaf_id: int
    leaf_score: float
    safe_id: int | None
    safe_score: float
    is_unknown: bool


@dataclass(frozen=True, slots=True)
class LabelledImage:
    """An image of a collection with what is said of it.

    Attributes:
        image_id: the project's number of it.
        path: as the project has it: relative to its folder, or absolute, with "/" between.
        file: where it is on this computer.
        content_hash: BLAKE3 of the file's bytes as hex, 16 bytes; "" where it was never read.
        label: a person's; None without one.
        answer: the model's, also beside a label; None where it has none.
    """

    image_id: int
    path: str
    file: Path
    content_hash: str
    label: GivenLabel | None
    answer: ModelAnswer | None

    @property
    def class_id(self) -> int | None:
        """What it is said to be: the person's class, else the safe class; None for neither, and for none of them."""
        if self.label is not None:
            return self.label.class_id
        return None if self.answer is None else self.answer.safe_id

    @property
    def is_of_none(self) -> bool:
        """Whether it is said to show none of the classes."""
        if self.label is not None:
            return self.label.class_id is None
        return self.answer is not None and self.answer.is_unknown

    @property
    def is_verified(self) -> bool:
        """Whether a person says so."""
        return self.label is not None

    @property
    def score(self) -> float | None:
        """Probability of `class_id` where the model says so; None for a person's word and without a class."""
        if self.label is not None or self.answer is None or self.answer.safe_id is None:
            return None
        return self.answer.safe_score


def _nothing() -> None:
    """Be told of progress, and not care."""


@dataclass(frozen=True)
class LabelledImages:
    """A collection as it is written into a format.

    Attributes:
        title: the project's name.
        graph: its classes.
        images: in ascending image id order: those that are to be written, and no others.
        made_at: when this was gathered: the time of the model's answers; time zone aware.
        model: name of the model; "" where it was not asked.
        setting: "ppn+", "ppn" or "prototypes".
        program: name and version of this program.
        folder: the deepest folder that all images of the project lie in or below, also those that are not written;
            None where they are on several drives.
        facts_of: reads the header of an image's file.
        on_image: called after each image that was written; raises `Cancelled` when it is to stop.
    """

    title: str
    graph: CategoryGraph
    images: Sequence[LabelledImage]
    made_at: datetime
    model: str
    setting: str
    program: str
    folder: Path | None
    facts_of: Callable[[Path], PhotoFacts]
    on_image: Callable[[], None] = _nothing

    def each(self) -> Iterator[LabelledImage]:
        """The images one after the other, with progress told and stops taken."""
        for image in self.images:
            yield image
            self.on_image()

    @cached_property
    def used_classes(self) -> tuple[int, ...]:
        """The classes that images are said to be of, parents before children, then by number."""
        used = {image.class_id for image in self.images if image.class_id is not None}
        return tuple(sorted(used, key=lambda each: (self.graph.level(each), each)))

    def paths(self, class_id: int) -> tuple[tuple[str, ...], ...]:
        """Names from the top down to a class along every path; the first is the one that stands for it."""
        if class_id not in self._paths:
            found = self.graph.paths(class_id)
            self._paths[class_id] = tuple(tuple(map(self.graph.name, path)) for path in found)
        return self._paths[class_id]

    def path_text(self, class_id: int) -> str:
        r"""A class's first path as text, "Animal/Bird/Gull"; "/" inside a name is written "\/"."""
        return join_path(self.paths(class_id)[0])

    def path_texts(self, class_id: int) -> tuple[str, ...]:
        """The same for every path of a class."""
        return tuple(map(join_path, self.paths(class_id)))

    @cached_property
    def _paths(self) -> dict[int, tuple[tuple[str, ...], ...]]:
        return {}


@dataclass(frozen=True)
class WrittenExport:
    """What a format wrote.

    Attributes:
        images: how many are in it.
        left_out: why images are not in it, with how many: {"no class": 12}.
        failures: files that could not be read or copied.
    """

    images: int
    left_out: dict[str, int] = field(default_factory=dict)
    failures: tuple[FileFailure, ...] = ()


@dataclass(frozen=True, slots=True)
class ForeignLabel:
    """What a file says of an image.

    Attributes:
        image: its path as the file has it.
        names: the class: its path from the top down, or its name alone, or whatever names it there; () for none of the
            classes.
        source_id: the class's id where the file has one: looked for first.
        file: where the file says the image is, or where it lies beside the labels; None where nothing tells.
        content_hash: as `LabelledImage`; "" where nothing tells.
        who: the person; "" where nothing tells.
        when: None where nothing tells.
        is_machine: whether a model says so: such an answer is never taken for a label.
        is_keyword: whether it is a photo's keyword, which may or may not mean a class.
    """

    image: str
    names: tuple[str, ...]
    source_id: str = ""
    file: Path | None = None
    content_hash: str = ""
    who: str = ""
    when: datetime | None = None
    is_machine: bool = False
    is_keyword: bool = False


@dataclass(frozen=True)
class ForeignLabels:
    """What was read of a source.

    Attributes:
        labels: in the order of the source; an image may occur several times.
        unlabelled: images that stand there without a word about their class.
        problems: lines that could not be read, for people.
    """

    labels: tuple[ForeignLabel, ...]
    unlabelled: int = 0
    problems: tuple[str, ...] = ()

    @staticmethod
    def of(labels: Iterable[ForeignLabel], *, unlabelled: int = 0, problems: Iterable[str] = ()) -> "ForeignLabels":
        """Collect what a reader yields."""
        return ForeignLabels(tuple(labels), unlabelled, tuple(problems))
