"""One run of embedding: asks the project which images wait, and the worker to embed them, some thousands at a time."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

from app.jobs.process_job import WorkerJob
from engine.errors import ProtoleafError
from engine.worker.client import Worker

if TYPE_CHECKING:
    from app.session import Session
    from engine.collection.live import LiveCollection
    from engine.embedding.messages import Embedded, EmbedImages


@dataclass(frozen=True)
class EmbedScope:
    """What a run embeds besides images that wait; see `images_to_embed`."""

    device: str = "auto"
    with_failed: bool = False
    with_all: bool = False


@final
class EmbedJob(WorkerJob):
    """Embeds what waits in the open project.

    Args:
        title: what the status bar says.
        session: of the project.
        wanted: which images, and on which device.
        worker: gives the worker, which may be running already.
    """

    def __init__(self, title: str, session: "Session", wanted: EmbedScope, worker: Callable[[], Worker]) -> None:
        super().__init__(title)
        self._session = session
        self._wanted = wanted
        self._give_worker = worker
        self._after = 0
        self._done = 0
        self._last: Embedded | None = None

    def start(self) -> None:
        """Ask for the first images."""
        self._ask_for_images()
        self._begin()  # last, so that whoever is told can cancel

    def _ask_for_images(self) -> None:
        wanted, caches, after, done = self._wanted, self._session.caches, self._after, self._done

        def question(live: "LiveCollection") -> "EmbedImages | ProtoleafError | None":
            from engine.collection.waiting_images import images_to_embed

            try:
                return images_to_embed(
                    live, caches, wanted.device, after=after, with_failed=wanted.with_failed,
                    with_all=wanted.with_all, done_before=done,
                )  # fmt: skip
            except ProtoleafError as error:
                return error

        self._session.ask(question, self._on_images, owner=self)

    def _on_images(self, request: "EmbedImages | ProtoleafError | None") -> None:
        if self.has_ended:
            return
        if isinstance(request, ProtoleafError):
            self._fail(str(request))
        elif request is None:
            self._succeed(self._last)
        else:
            self._after, self._done = request.images[-1].image_id, request.done_before + len(request.images)
            try:
                self._ask(self._give_worker(), request)
            except OSError:
                self._refuse_to_start()

    def _on_result(self, result: object) -> None:
        self._last = result  # type: ignore[assignment]
        self._ask_for_images()
