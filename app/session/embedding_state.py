"""Where embedding is, what leads from there to where, and what is wanted of it. No Qt."""

from collections.abc import Mapping
from enum import IntEnum, StrEnum
from typing import Final


class EmbeddingPhase(StrEnum):
    """Where embedding is."""

    IDLE = "idle"
    RUNNING = "running"
    FOLLOWED = "followed"  # running, and another run follows, also when this one is cancelled
    STOPPING = "stopping"  # running, and paused when it ends
    PAUSED = "paused"  # until somebody asks for it again

    @property
    def is_stopped(self) -> bool:
        """Whether nothing begins unless somebody asks for it."""
        return self in (EmbeddingPhase.STOPPING, EmbeddingPhase.PAUSED)


class Event(StrEnum):
    """What happens to it."""

    ASKED = "asked"  # a person or a change wants images embedded
    BEGUN = "begun"  # a run begins
    HELD = "held"  # the run is cancelled, to be taken up again later
    STOPPED = "stopped"  # a person stops it
    CANCELLED = "cancelled"  # the run over images that wait was cancelled, by whomever
    ENDED = "ended"  # the run is over, however it ended


TRANSITIONS: Final[Mapping[tuple[EmbeddingPhase, Event], EmbeddingPhase]] = {
    (EmbeddingPhase.IDLE, Event.BEGUN): EmbeddingPhase.RUNNING,
    (EmbeddingPhase.IDLE, Event.STOPPED): EmbeddingPhase.PAUSED,
    (EmbeddingPhase.RUNNING, Event.ASKED): EmbeddingPhase.FOLLOWED,
    (EmbeddingPhase.RUNNING, Event.HELD): EmbeddingPhase.FOLLOWED,
    (EmbeddingPhase.RUNNING, Event.STOPPED): EmbeddingPhase.STOPPING,
    (EmbeddingPhase.RUNNING, Event.CANCELLED): EmbeddingPhase.STOPPING,
    (EmbeddingPhase.RUNNING, Event.ENDED): EmbeddingPhase.IDLE,
    (EmbeddingPhase.FOLLOWED, Event.STOPPED): EmbeddingPhase.STOPPING,
    (EmbeddingPhase.FOLLOWED, Event.ENDED): EmbeddingPhase.IDLE,
    (EmbeddingPhase.STOPPING, Event.ASKED): EmbeddingPhase.FOLLOWED,
    (EmbeddingPhase.STOPPING, Event.HELD): EmbeddingPhase.FOLLOWED,
    (EmbeddingPhase.STOPPING, Event.ENDED): EmbeddingPhase.PAUSED,
    (EmbeddingPhase.PAUSED, Event.ASKED): EmbeddingPhase.IDLE,
}
"""All that changes the phase; whatever else happens leaves it as it is."""


def after(phase: EmbeddingPhase, event: Event) -> EmbeddingPhase:
    """The phase that an event leads to."""
    return TRANSITIONS.get((phase, event), phase)


class Wanted(IntEnum):
    """Which images are to be embedded: each includes those before it."""

    NOTHING = 0
    WAITING = 1  # that have no embedding
    FAILED = 2  # and those that could not be read
    ALL = 3  # and whatever may have changed


class Views(StrEnum):
    """Whether images are embedded in all their views."""

    LATER = "later"  # when a person pauses
    WANTED = "wanted"
    ENOUGH = "enough"  # a person stopped it, for this project
