"""The embedding job and its states.

It sends requests of a few seconds, so that visible images are embedded soon.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from typing import TYPE_CHECKING, final

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
    FOLLOWED = "followed"  # running, and another run follows
    STOPPING = "stopping"  # running, and paused when it ends
    PAUSED = "paused"  # until it is started again

    @property
    def is_stopped(self) -> bool:
        return self in (EmbeddingPhase.STOPPING, EmbeddingPhase.PAUSED)


class Event(StrEnum):
    """Events that change the phase."""

    ASKED = "asked"  # start was called
    BEGUN = "begun"  # a run begins
    HELD = "held"  # the run is cancelled, to be resumed later
    STOPPED = "stopped"  # the user stops it
    CANCELLED = "cancelled"  # the run over pending images was cancelled
    ENDED = "ended"  # the run is over, for any reason


TRANSITIONS: Mapping[tuple[EmbeddingPhase, Event], EmbeddingPhase] = {
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
"""Other events do not change the phase."""


def after(phase: EmbeddingPhase, event: Event) -> EmbeddingPhase:
    return TRANSITIONS.get((phase, event), phase)


class Wanted(IntEnum):
    """Which images to embed; each value includes the previous ones."""

    NOTHING = 0
    WAITING = 1  # images without an embedding
    FAILED = 2  # images that could not be read
    ALL = 3  # images that may have changed


class Views(StrEnum):
    """Whether images are embedded in all their views."""

    LATER = "later"  # once the user is idle
    WANTED = "wanted"
    ENOUGH = "enough"  # stopped by the user, for this project


FEWEST = 256  # images of the first request, while the speed is unknown
# Images of one request, which takes milliseconds to make: window and project thread stay
# responsive.
MOST = 5_000
REQUEST_S = 3.0  # target duration of a request


@dataclass(frozen=True)
class EmbedScope:
    """Inputs of a run besides pending images; see `images_to_embed` and `views_to_embed`."""

    device: str = "auto"
    with_failed: bool = False
    with_all: bool = False
    # Images whose files were modified since they were read.
    written_to: frozenset[int] = frozenset()
    in_views: bool = False  # all views, once no image is pending
    without_view: frozenset[int] = frozenset()  # images whose views cannot be embedded
    thumbnail_side: int = 0  # of the thumbnails to make; 0 for none


def images_at_once(embedded: EmbedSummary | None) -> int:
    """Size of the next request, by the speed of the last one."""
    if embedded is None:
        return FEWEST
    done = embedded.embedded + embedded.from_cache
    return (
        max(FEWEST, min(MOST, round(REQUEST_S * done / embedded.seconds)))
        if embedded.seconds > 0
        else FEWEST
    )


@final
class EmbedJob(WorkerJob):
    """Embeds the pending images of the open project; `worker` returns a new or running worker."""

    def __init__(
        self, title: str, session: Session, wanted: EmbedScope, worker: Callable[[], Worker]
    ) -> None:
        super().__init__(title)
        self._session = session
        self.wanted = wanted
        self._give_worker = worker
        # Whether the results are views of images that already have an embedding.
        self.is_on_views = False
        self._asked: set[int] = set()
        self._asked_for_views: set[int] = set()
        self._last: EmbedSummary | None = None

    def start(self) -> None:
        self._ask_for_images()
        self._begin()  # last, so that listeners can cancel

    def _ask_for_images(self) -> None:
        wanted, caches, asked = self.wanted, self._session.caches, self._asked
        in_view, most = tuple(self._session.in_view()), images_at_once(self._last)
        viewed, most_viewed = (
            self._asked_for_views,
            images_at_once(self._last if self.is_on_views else None),
        )

        def question(live: LiveCollection) -> tuple[EmbedImages | ProtoleafError | None, bool]:
            from engine.requests import images_to_embed, views_to_embed

            try:
                waiting = images_to_embed(
                    live,
                    caches,
                    wanted.device,
                    in_view=in_view,
                    asked=asked,
                    most=most,
                    with_failed=wanted.with_failed,
                    with_all=wanted.with_all,
                    written_to=wanted.written_to,
                    thumbnail_side=wanted.thumbnail_side,
                )
                if waiting is not None or not wanted.in_views:
                    return waiting, False
                request = views_to_embed(
                    live,
                    caches,
                    wanted.device,
                    asked=viewed,
                    left_out=wanted.without_view,
                    most=most_viewed,
                )
            except ProtoleafError as error:
                return error, False
            return request, True

        self._session.ask(question, lambda answer: self._on_images(*answer), owner=self)

    def _on_images(self, request: EmbedImages | ProtoleafError | None, is_on_views: bool) -> None:
        if self.has_ended:
            return
        if isinstance(request, ProtoleafError):
            self._fail(str(request))
        elif request is None:
            self._succeed(self._last)
        else:
            self.is_on_views = is_on_views
            asked = self._asked_for_views if is_on_views else self._asked
            asked |= {image.image_id for image in request.images}
            try:
                self._ask(self._give_worker(), request)
            except OSError:
                self._refuse_to_start()

    def _on_result(self, result: object) -> None:
        self._last = result  # type: ignore[assignment]
        self._ask_for_images()
