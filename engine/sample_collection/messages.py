"""What workers are asked for about the sample collection: its project, and shares of its pictures."""

from dataclasses import dataclass
from pathlib import Path

from engine.worker.protocol import Request


@dataclass(frozen=True)
class PictureDrawn:
    """A picture of the sample collection is on the disk.

    Attributes:
        path: of its file.
    """

    path: Path


@dataclass(frozen=True)
class SampleDrawn:
    """The sample project is there.

    Attributes:
        project: its file.
    """

    project: Path


@dataclass(frozen=True)
class DrawSample(Request[SampleDrawn]):
    """Draw the sample collection and make its project; nothing is drawn when that is there already.

    Attributes:
        folder: of the project and its pictures.
    """

    event_types = (PictureDrawn,)

    folder: Path


@dataclass(frozen=True)
class ShareDrawn:
    """All pictures of a share are on the disk.

    Attributes:
        count: how many.
    """

    count: int


@dataclass(frozen=True)
class DrawShare(Request[ShareDrawn]):
    """Draw every `shares`-th picture of a collection, from number `share` on.

    Attributes:
        folder: of the collection; the folder of its pictures is there.
        seed: see `draw_collection`.
        images_per_class: see `draw_collection`.
        share: which of them, from 0.
        shares: into how many the pictures are divided.
    """

    event_types = (PictureDrawn,)

    folder: Path
    seed: int
    images_per_class: int
    share: int
    shares: int
