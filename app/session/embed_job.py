"""One embedding run, in requests of a few seconds so that visible images are embedded soon; its states."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from typing import TYPE_CHECKING, Final, final

from app.jobs.process_job import WorkerJob
from engine.errors import ProtoleafError
from engine.worker.client import Worker

if TYPE_CHECKING:
    from app.session import Session
    from engine.collection.live import LiveCollection
    from engine.embedding.messages import EmbedImages, EmbedSummary


class EmbeddingPhase(StrEnum):
    """States of the embedding."""

    IDLE = "idle"
    RUNNING = "running"
    FOLLOWED = "followed"  # running, and another run follows, also when this one is cancelled
    STOPPING = "stopping"  # running, and paused when it ends
    PAUSED = "paused"  # until somebody asks for it again

    @property
    def is_stopped(self) -> bool:
        return self in (EmbeddingPhase.STOPPING, EmbeddingPhase.PAUSED)


class Event(StrEnum):
    """What changes the phase."""

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
    return TRANSITIONS.get((phase, event), phase)


class Wanted(IntEnum):
    """Which images to embed: each includes those before it."""

    NOTHING = 0
    WAITING = 1  # that have no embedding
    FAILED = 2  # and those that could not be read
    ALL = 3  # and whatever may have changed


class Views(StrEnum):
    """Whether images are embedded in all their views."""

    LATER = "later"  # when a person pauses
    WANTED = "wanted"
    ENOUGH = "enough"  # a person stopped it, for this project


InView = Callable[[], Iterable[int]]
"""Says which images somebody looks at, by id."""

FEWEST: Final = 256
"""Images of the first request: nothing is known of the speed yet."""
MOST: Final = 5_000
"""Of one request: it is made in some milliseconds, so the window and the project's thread stay free."""
REQUEST_S: Final = 3.0
"""What a request should take."""


@dataclass(frozen=True)
class EmbedScope:
    """What a run embeds besides waiting images; see `images_to_embed` and `views_to_embed`.

    Attributes:
        in_views: whether to embed all views when no image waits.
        without_view: images whose views cannot be embedded.
    """

    device: str = "auto"
    with_failed: bool = False
    with_all: bool = False
    in_views: bool = False
    without_view: frozenset[int] = frozenset()


def images_at_once(embedded: EmbedSummary | None) -> int:
    """Size of the next request, from the speed of the last one."""
    if embedded is None:
        return FEWEST
    done = embedded.embedded + embedded.from_cache
    return max(FEWEST, min(MOST, round(REQUEST_S * done / embedded.seconds))) if embedded.seconds > 0 else FEWEST


@final
class EmbedJob(WorkerJob):
    """Embeds the waiting images of the open project.

    Args:
        title: shown in the status bar.
        session: of the project.
        wanted: which images, and on which device.
        worker: returns a new or running worker.
        in_view: images that come first.

    Attributes:
        is_on_views: whether the worker's results are about views.
    """

    def __init__(
        self, title: str, session: Session, wanted: EmbedScope, worker: Callable[[], Worker], in_view: InView
    ) -> None:
        super().__init__(title)
        self._session = session
        self.wanted = wanted
        self._give_worker = worker
        self._in_view = in_view
        self.is_on_views = False
        self._asked: set[int] = set()
        self._asked_for_views: set[int] = set()
        self._last: EmbedSummary | None = None

    def start(self) -> None:
        self._ask_for_images()
        self._begin()  # last, so that whoever is told can cancel

    def _ask_for_images(self) -> None:
        wanted, caches, asked = self.wanted, self._session.caches, self._asked
        in_view, most = tuple(self._in_view()), images_at_once(self._last)
        viewed, most_viewed = self._asked_for_views, images_at_once(self._last if self.is_on_views else None)

        def question(live: LiveCollection) -> EmbedImages | ProtoleafError | None:
            from engine.collection.waiting_images import images_to_embed, views_to_embed

            try:
                waiting = images_to_embed(
                    live, caches, wanted.device, in_view=in_view, asked=asked, most=most,
                    with_failed=wanted.with_failed, with_all=wanted.with_all,
                )  # fmt: skip
                if waiting is not None or not wanted.in_views:
                    return waiting
                return views_to_embed(
                    live, caches, wanted.device, asked=viewed, left_out=wanted.without_view, most=most_viewed
                )
            except ProtoleafError as error:
                return error

        self._session.ask(question, self._on_images, owner=self)

    def _on_images(self, request: EmbedImages | ProtoleafError | None) -> None:
        if self.has_ended:
            return
        if isinstance(request, ProtoleafError):
            self._fail(str(request))
        elif request is None:
            self._succeed(self._last)
        else:
            self.is_on_views = request.with_views
            asked = self._asked_for_views if request.with_views else self._asked
            asked |= {image.image_id for image in request.images}
            try:
                self._ask(self._give_worker(), request)
            except OSError:
                self._refuse_to_start()

    def _on_result(self, result: object) -> None:
        self._last = result  # type: ignore[assignment]
        self._ask_for_images()
