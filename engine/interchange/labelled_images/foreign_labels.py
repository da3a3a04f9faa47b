"""Labels of images as files of other programs hold them, before they meet a project."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import ParamSpec, final

from engine.errors import reason_of
from engine.interchange.labelled_images.records import GivenNote
from engine.texts import Message

P = ParamSpec("P")
Reading = Callable[P, Iterable["ForeignLabel | None"]]


@dataclass(frozen=True, slots=True)
class ForeignLabel:
    """A label that a file has for an image."""

    image: str  # its path as the file has it
    names: tuple[str, ...]
    """The class: its path from the top down, or its name alone, or whatever names it there; () for none of the
    classes."""
    source_id: str = ""  # the class's id where the file has one: looked for first
    file: Path | None = None
    """Where the file says the image is, or where it lies beside the labels; None where nothing tells."""
    content_hash: str = ""  # as `LabelledImage`; "" where nothing tells
    who: str = ""  # the person; "" where nothing tells
    when: datetime | None = None  # None where nothing tells
    is_machine: bool = False  # whether a model says so: such an answer is never taken for a label
    is_keyword: bool = False  # whether it is a photo's keyword, which may or may not mean a class
    note: GivenNote | None = None  # of what is no label, but an image with what a person noted of it


@dataclass(frozen=True)
class ForeignLabels:
    """The labels of a source."""

    labels: tuple[ForeignLabel, ...]  # in the order of the source; an image may occur several times
    unlabelled: int = 0  # images that stand there without a word about their class
    problems: tuple[str, ...] = ()  # lines that could not be read, for people
    noted: tuple[ForeignLabel, ...] = ()  # images with what people noted of them

    @staticmethod
    def of(
        labels: Iterable[ForeignLabel],
        *,
        unlabelled: int = 0,
        problems: Iterable[str] = (),
        noted: Iterable[ForeignLabel] = (),
    ) -> "ForeignLabels":
        return ForeignLabels(tuple(labels), unlabelled, tuple(problems), tuple(noted))


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

    def add(self, problem: str, place: int | str, read: Reading[P], *args: P.args, **kwargs: P.kwargs) -> None:
        """Add the labels of an entry; ValueError and IndexError become a problem, such as `line {place}: {reason}`."""
        try:
            found = [label for label in read(*args, **kwargs) if label is not None]
        except (ValueError, IndexError) as error:
            self.problems.append(Message(problem, {"place": place, "reason": reason_of(error)}))
            return
        self.labels += found
        self.unlabelled += not found

    def collected(self) -> ForeignLabels:
        return ForeignLabels.of(self.labels, unlabelled=self.unlabelled, problems=self.problems, noted=self.noted)
