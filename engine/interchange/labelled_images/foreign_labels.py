"""Labels of images as files of other programs hold them, before they meet a project."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Final, final

from engine.errors import FormatError, InputError, StorageError, found_at, reason_of
from engine.file_parts import MOST_BOXES, WHOLE_FILE, FilePart
from engine.files import shown
from engine.interchange.labelled_images.records import GivenNote
from engine.texts import Message, enumerated, marked

Keyword = tuple[str, ...]  # names from the top down; a flat keyword is one name

_INTERNAL: Final = frozenset({"darktable", "_Digikam_root_tag_", "_Digikam_Internal_Tags_"})
"""First names of keywords that programs give by themselves."""


@dataclass(frozen=True, slots=True)
class ForeignLabel:
    """A label that a file has for an image."""

    image: str  # its path as the file has it
    names: tuple[str, ...]
    """The class: its path from the top down, or its name alone, or whatever names it there; () for none of the
    classes."""
    other_names: tuple[str, ...] = ()
    """What the class may be called where none has the path: the name of its species, or its name in a language."""
    may_be_none: bool = (
        False  # whether its name means none of the classes where no class is called so
    )
    source_id: str = ""  # the class's id where the file has one: looked for first
    file: Path | None = None
    """Where the file says the image is, or where it lies beside the labels; None where nothing tells."""
    content_hash: str = ""  # as `LabelledImage`; "" where nothing tells
    who: str = ""  # the person; "" where nothing tells
    when: datetime | None = None  # None where nothing tells
    is_machine: bool = False  # whether a model says so: such an answer is never taken for a label
    is_ours: bool = (
        False  # whether this program wrote it: names that differ by capitals are several classes
    )
    is_keyword: bool = False  # whether it is a photo's keyword, which may or may not mean a class
    note: GivenNote | None = (
        None  # of what is no label, but an image with what a person noted of it
    )
    part: FilePart = WHOLE_FILE  # of the image's file; the default is all of it
    category: str = ""  # what a detector calls the thing in the box, such as "animal"; "" for none
    score: float | None = None  # the detector's confidence, 0..1
    is_empty: bool = False
    """Whether nothing is in the image; where `names` has a word for that, a class may be called so."""
    count: int | None = None  # how many there are; None where nothing tells
    fields: tuple[tuple[str, str], ...] = ()  # names and values of further facts, such as sex

    @property
    def is_box_alone(self) -> bool:
        """Whether it is a box without a class."""
        return self.part.box is not None and self.is_machine and not self.names


@dataclass(frozen=True)
class TableReading:
    """How a table was understood, for a person to check: what it is, and which of its columns are read."""

    title: str  # the program or standard that it is of; "" for none that is known
    used: Mapping[str, tuple[str, ...]]  # the columns that are read, by what they were taken for

    @property
    def summary(self) -> str:
        """`Read as a table of Wildlife Insights: file from filename, class from genus and species`."""
        template = (
            marked("Read as a table of {title}: {used}")
            if self.title
            else marked("Read as a table: {used}")
        )
        part = marked("{role} from {columns}")
        used = enumerated(
            Message(part, {"role": role, "columns": enumerated(names)})
            for role, names in self.used.items()
        )
        return Message(template, {"title": Message(self.title), "used": used})


@dataclass(frozen=True)
class ForeignLabels:
    """The labels of a source."""

    labels: tuple[ForeignLabel, ...]  # in the order of the source; an image may occur several times
    unlabelled: int = 0  # images that stand there without a word about their class
    problems: tuple[str, ...] = ()  # lines that could not be read, for people
    noted: tuple[ForeignLabel, ...] = ()  # images with what people noted of them
    table: TableReading | None = None  # how its columns were understood; None where it is no table


def distinct_keywords(hierarchical: Iterable[Keyword], flat: Iterable[str]) -> list[Keyword]:
    """Each keyword once, without those that only repeat the beginning or a part of a hierarchical one."""
    deep = [each for each in dict.fromkeys(hierarchical) if each and each[0] not in _INTERNAL]
    beginnings = {each[:length] for each in deep for length in range(1, len(each))}
    parts = {name for each in deep for name in each}
    single = [
        (name,)
        for name in dict.fromkeys(flat)
        if name and name not in parts and name not in _INTERNAL
    ]
    return [*(each for each in deep if each not in beginnings), *single]


def numbered_things(labels: Iterable[ForeignLabel]) -> Iterator[ForeignLabel]:
    """Labels of people; where one image has several classes without boxes, each after the first is a further thing."""
    classes: dict[str, list[tuple[str, ...]]] = {}
    for label in labels:
        if label.is_machine or label.is_empty or label.part != WHOLE_FILE or not label.names:
            yield label
            continue
        known = classes.setdefault(label.image, [])
        if label.names not in known:
            known.append(label.names)
        number = known.index(label.names) + 1
        yield label if number == 1 else replace(label, part=FilePart(thing=number))


def problem_at(place: str, reason: Message) -> Message:
    """The line about a part of a source that could not be read."""
    return Message("{place}: {reason}", {"place": place, "reason": reason})


@final
class LabelCollector:
    """Collects the labels of a source while it is read entry by entry."""

    def __init__(self) -> None:
        self.labels: list[ForeignLabel] = []
        self.unlabelled = 0
        self.problems: list[str] = []
        self.noted: list[ForeignLabel] = []
        self._boxes: Counter[str] = Counter()

    def add(
        self,
        place: int | str,
        labels: Iterable[ForeignLabel | None],
        problem: str = "{place}: {reason}",
    ) -> None:
        """Add the labels of an entry; None is an entry without one.

        Args:
            place: of the entry in the source, for messages.
            labels: read while iterated; an error makes the entry a problem.
            problem: template of its message.
        """
        try:
            found = [label for label in labels if label is not None]
        except (ValueError, IndexError, InputError) as error:
            self.problems.append(Message(problem, {"place": place, "reason": reason_of(error)}))
            return
        self.labels += filter(self._is_taken, found)
        self.unlabelled += not found

    @contextmanager
    def file_of(self, source: Path, file: Path) -> Iterator[None]:
        """While a file of a source is read: what is wrong with one of a folder becomes a problem.

        Raises:
            FormatError, StorageError: the file is all of the source.
        """
        try:
            yield
        except (FormatError, StorageError) as error:
            if file == source:
                raise
            self.problems.append(found_at(shown(file.name), error))

    def collected(self) -> ForeignLabels:
        problems = (
            *self.problems,
            *(_too_many(*each) for each in self._boxes.items() if each[1] > MOST_BOXES),
        )
        return ForeignLabels(tuple(self.labels), self.unlabelled, problems, tuple(self.noted))

    def _is_taken(self, label: ForeignLabel) -> bool:
        """Whether a label is not one of more boxes than an image may have."""
        if label.part.box is None:
            return True
        self._boxes[label.image] += 1
        return self._boxes[label.image] <= MOST_BOXES


def _too_many(image: str, count: int) -> str:
    template = marked("{image} has {count:,} boxes: only the first {most:,} are read")
    return Message(template, {"image": image, "count": count, "most": MOST_BOXES})
