"""What the backbone panel knows, without Qt: rows of its three sources, and how a change compares."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from engine.backbones.published.facts import PublishedNetwork
    from engine.collection.backbone_change.change import PreparedChange
    from engine.embedding.records import EmbedResult

USUAL_DATA: Final = "IMAGENET1K_"
"""What the names of nearly all weights begin with: the images they were trained on."""


class Source(StrEnum):
    """Where a backbone can come from."""

    COMPUTER = "computer"
    PUBLISHED = "published"
    FILE = "file"


class Origin(StrEnum):
    """How a backbone came to this computer."""

    BUNDLED = "bundled"
    PUBLISHED = "published"
    ADDED = "added"


@dataclass(frozen=True)
class BackboneRow:
    """One backbone on this computer.

    Attributes:
        source: by which the engine finds it.
        name: for people.
        input_side: of the square pictures it sees, in pixels.
        width: length of its embeddings.
        size_bytes: of its file.
        origin: how it came here.
        licence: of its weights; empty while unknown.
        images_per_s: how fast it is on one core of this computer, where that was measured.
        is_used: whether the project uses it now.
        file_name: of its file.
    """

    source: str
    name: str
    input_side: int
    width: int
    size_bytes: int
    origin: Origin
    licence: str = ""
    images_per_s: float | None = None
    is_used: bool = False
    file_name: str = ""

    @property
    def is_removable(self) -> bool:
        """Whether it may go: what ships with the program stays, and so does what the project uses."""
        return self.origin is not Origin.BUNDLED and not self.is_used


@dataclass(frozen=True)
class Removal:
    """How the removal of a backbone ended.

    Attributes:
        name: of the backbone.
        error: why it is still there, in one line; empty when it is gone.
    """

    name: str
    error: str = ""


@dataclass(frozen=True)
class Installed:
    """What is on this computer, for the open project.

    Attributes:
        rows: the one in use first, then bundled ones, then by name.
        used_name: the model version in use, as people call it.
        lost_reason: why nothing can be embedded with it; empty when all is well.
    """

    rows: tuple[BackboneRow, ...]
    used_name: str
    lost_reason: str = ""


class Column(StrEnum):
    """What the table of published networks can be sorted by."""

    NAME = "name"
    SIZE = "size"
    ACCURACY = "accuracy"
    SIDE = "side"
    LICENCE = "licence"


@dataclass(frozen=True)
class PublishedRow:
    """A network whose weights can be downloaded, with one version of them.

    Attributes:
        network: what is known of it.
        fetched_bytes: of an earlier download that was stopped.
        is_here: whether it is on this computer already.
    """

    network: "PublishedNetwork"
    fetched_bytes: int = 0
    is_here: bool = False

    @property
    def name(self) -> str:
        """For people: `resnet50 V2`."""
        return f"{self.network.network} {self.network.weights.removeprefix(USUAL_DATA)}"


_KEYS: Final[Mapping[Column, Callable[["PublishedNetwork"], Any]]] = {
    Column.NAME: lambda _network: 0,
    Column.SIZE: lambda network: network.size_bytes,
    Column.ACCURACY: lambda network: network.top1,
    Column.SIDE: lambda network: network.input_side,
    Column.LICENCE: lambda network: network.licence.casefold(),
}


def arranged(
    rows: Sequence[PublishedRow], column: Column, *, descending: bool = False, words: str = ""
) -> list[PublishedRow]:
    """The rows whose name or licence holds all words, sorted."""
    wanted = words.casefold().split()
    found = [row for row in rows if all(word in f"{row.name} {row.network.licence}".casefold() for word in wanted)]
    return sorted(found, key=lambda row: (_KEYS[column](row.network), row.name.casefold()), reverse=descending)


@dataclass(frozen=True)
class ChangeFigures:
    """How another backbone compares with the one in use on the person's labels, each held out in turn.

    Attributes:
        before, after: share of right answers, 0..1; None where nothing could be held out.
        shots: labels that were held out.
        interval: where the difference lies in 19 of 20 cases, as a share; None where the labels are not the same.
        may_be_chance: whether so few labels give such a difference in more than 1 of 20 cases.
    """

    before: float | None
    after: float | None
    shots: int = 0
    interval: tuple[float, float] | None = None
    may_be_chance: bool = False

    @property
    def is_worse(self) -> bool:
        """Whether the other backbone is right less often, beyond chance."""
        return self.interval is not None and not self.may_be_chance and (self.after or 0.0) < (self.before or 0.0)

    @property
    def is_better(self) -> bool:
        """Whether the other backbone is right more often, beyond chance."""
        return self.interval is not None and not self.may_be_chance and (self.after or 0.0) > (self.before or 0.0)


@dataclass(frozen=True)
class ReadyChange:
    """A change of backbone that only waits for the person's word.

    Attributes:
        source: by which the engine finds the backbone.
        name: for people.
        backbone_hash: of the file that the images were embedded with.
        figures: beside the backbone in use.
        failed: images that could not be read.
        news: what was found out about images.
    """

    source: str
    name: str
    backbone_hash: str
    figures: ChangeFigures
    failed: int = 0
    news: tuple["EmbedResult", ...] = ()

    @classmethod
    def of_prepared(cls, prepared: "PreparedChange", news: "Sequence[EmbedResult]") -> "ReadyChange":
        """What a worker prepared, with the news that it sent before."""
        comparison = prepared.comparison
        figures = ChangeFigures(
            comparison.before, comparison.after, comparison.shots, comparison.interval, comparison.may_be_chance
        )
        return cls(prepared.source, prepared.name, prepared.backbone_hash, figures, len(prepared.failed), tuple(news))
