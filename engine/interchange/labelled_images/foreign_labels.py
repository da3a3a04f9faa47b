"""Labels of images read from files of other programs, before they are matched with a project."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import final

from engine.errors import FormatError, InputError, StorageError, found_at, reason_of
from engine.file_parts import MOST_BOXES, WHOLE_FILE, FilePart
from engine.files import shown
from engine.interchange.labelled_images.records import GivenNote
from engine.texts import Message, enumerated, marked

Keyword = tuple[str, ...]  # names from the top down; a flat keyword is one name

_INTERNAL = frozenset({"darktable", "_Digikam_root_tag_", "_Digikam_Internal_Tags_"})
"""Top-level keywords that programs use internally."""


@dataclass(frozen=True, slots=True)
class ForeignLabel:
    """A label of an image in a file."""

    image: str  # path in the source
    names: tuple[str, ...]  # path of the class from the top down, or its name; () for none
    other_names: tuple[str, ...] = ()  # fallbacks: name of the species, vernacular names
    may_be_none: bool = False  # whether it means none of the classes if no class has the name
    source_id: str = ""  # id of the class, which is looked up first; "" for none
    file: Path | None = None  # of the image, if known
    content_hash: str = ""  # as of `LabelledImage`; "" if unknown
    who: str = ""  # the person; "" if unknown
    when: datetime | None = None  # None if unknown
    is_machine: bool = False  # whether it is a prediction, which never becomes a label
    is_ours: bool = False  # whether this program wrote it, so that names are case-sensitive
    is_keyword: bool = False  # whether it is a keyword, which need not be a class
    note: GivenNote | None = None  # of an image with a note, in place of a label
    part: FilePart = WHOLE_FILE  # of the image's file
    category: str = ""  # detector category of the box, such as "animal"; "" for none
    score: float | None = None  # the detector's confidence, 0..1
    is_empty: bool = False  # whether it marks the image as empty; `names` may have a word for that
    count: int | None = None  # of individuals; None if unknown
    fields: tuple[tuple[str, str], ...] = ()  # names and values of further facts, such as sex

    @property
    def is_box_alone(self) -> bool:
        """Whether it is a box without a class."""
        return self.part.box is not None and self.is_machine and not self.names


@dataclass(frozen=True)
class TableReading:
    """How a table was interpreted, for users to check."""

    title: str  # program or standard; "" if unknown
    used: Mapping[str, tuple[str, ...]]  # the columns read, by role

    @property
    def summary(self) -> str:
        """A sentence: `Read as a table of Wildlife Insights: file from filename, ...`."""
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
    unlabelled: int = 0  # images without a class
    problems: tuple[str, ...] = ()  # messages about entries that could not be read
    noted: tuple[ForeignLabel, ...] = ()  # images with notes
    table: TableReading | None = None  # None if the source is not a table


def distinct_keywords(hierarchical: Iterable[Keyword], flat: Iterable[str]) -> list[Keyword]:
    """Keywords without duplicates, and without those that a hierarchical one contains."""
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
    """Make each further class of an image a further thing, if it has no box."""
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
    """Message about an entry that could not be read."""
    return Message("{place}: {reason}", {"place": place, "reason": reason})


@final
class LabelCollector:
    """Collects the labels of a source entry by entry."""

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
        """Turn errors of a file in a folder into problems.

        Raises:
            FormatError, StorageError: the file is the source itself.
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
        """Whether the image has no more boxes than allowed."""
        if label.part.box is None:
            return True
        self._boxes[label.image] += 1
        return self._boxes[label.image] <= MOST_BOXES


def _too_many(image: str, count: int) -> str:
    template = marked("{image} has {count:,} boxes: only the first {most:,} are read")
    return Message(template, {"image": image, "count": count, "most": MOST_BOXES})
