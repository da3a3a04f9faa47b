"""A program that embeds photos with a worker as the window does, and logs its reports."""

import json
import os
import queue
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.config import CacheFolders
from engine.embedding.cache import EmbeddingCache
from engine.embedding.messages import EmbedBatch, EmbedImages, EmbedRequest, EmbedSummary
from engine.model_card import read_card
from engine.worker.client import Done, Ending, Worker
from tests.support.backbones import WIDTH
from tests.support.device_owner import Shortage
from tests.trust.children import Place

IDENTITY = "ab" * 32
END_S = 20.0  # timeout for an owner to end


@dataclass(frozen=True)
class Run:
    """Reports of one embedding of all photos.

    Attributes:
        missing: contents without an embedding at its start.
        lost: contents reported as embedded before, without an embedding.
        results: image id, content hash and failure of each, in order.
        embedded: number of images embedded by the network; -1 if it did not end.
        ending: how it ended, in words; "" if the listener was killed.
    """

    missing: int = 0
    lost: int = 0
    results: tuple[tuple[int, str | None, str | None], ...] = ()
    embedded: int = -1
    ending: str = ""


@dataclass(frozen=True)
class Import:
    """Photos to embed.

    Attributes:
        place: of caches and reports.
        photos: in the order of their ids.
        contents: hashes of the valid ones.
        model: the network.
    """

    place: Place
    photos: tuple[Path, ...]
    contents: tuple[bytes, ...]
    model: Path

    @property
    def token(self) -> str:
        """In the names of its owners' shared memory."""
        return f"psm_{self.place.folder.name}"

    @property
    def log(self) -> Path:
        """Reports, one per line."""
        return self.place.folder / "reported.jsonl"

    @property
    def cancelled(self) -> Path:
        """Exists if the first run is to be cancelled."""
        return self.place.folder / "cancelled"

    def cache(self) -> EmbeddingCache:
        """The cache of embeddings."""
        return EmbeddingCache(CacheFolders(self.place.caches).embeddings, IDENTITY, WIDTH)

    def request(self) -> EmbedImages:
        """All photos."""
        images = tuple(EmbedRequest(number, path) for number, path in enumerate(self.photos))
        return EmbedImages(
            images, self.model, IDENTITY, read_card(self.model), self.place.caches, "cpu"
        )

    def runs(self) -> list[Run]:
        """All reports so far."""
        return [Run(**values) for values in self._each_run()]

    def _each_run(self) -> Iterator[dict[str, Any]]:
        text = self.log.read_text(encoding="utf-8") if self.log.exists() else ""
        found: list[dict[str, Any]] = []
        for line in text[: text.rfind("\n") + 1].splitlines():  # the last line may be incomplete
            values = json.loads(line)
            if "missing" in values:
                found.append({**values, "results": ()})
            elif "results" in values:
                found[-1]["results"] += tuple(tuple(result) for result in values["results"])
            else:
                found[-1].update(values)
        yield from found

    def note(self, **values: object) -> None:
        """Append a line, which survives the writer's death."""
        descriptor = os.open(self.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.write(descriptor, f"{json.dumps(values)}\n".encode())
        os.close(descriptor)


def embed_photos(task: Import, owners: Sequence[Shortage]) -> None:
    """Embed all photos with each owner, in a child; one with the previous shortage continues."""
    worker: Worker | None = None
    for number, owner in enumerate(owners):
        if worker is not None and (not worker.is_alive or owner != owners[number - 1]):
            _end(worker)
            worker = None
        _note_start(task)
        worker = worker or Worker(owner.command(task.token), stays=True)
        _embed_once(task, worker, is_first=number == 0)
    if worker is not None:
        _end(worker)


def _note_start(task: Import) -> None:
    reported = {
        key for run in task.runs() for _id, key, failure in run.results if key and failure is None
    }
    with task.cache() as cache:
        missing = cache.missing(task.contents)
        lost = cache.missing(bytes.fromhex(key) for key in reported)
    task.note(missing=len(missing), lost=len(lost))


def _embed_once(task: Import, worker: Worker, *, is_first: bool) -> None:
    endings: queue.SimpleQueue[Ending] = queue.SimpleQueue()

    def on_event(event: object) -> None:
        if isinstance(event, EmbedBatch) and event.results:
            task.note(results=[_plain(*result) for result in event.results])
        if is_first and task.cancelled.exists():
            worker.cancel(number)

    number = worker.send(task.request(), on_event, endings.put)
    ending = endings.get()
    if isinstance(ending, Done) and isinstance(ending.result, EmbedSummary):
        task.note(ending="done", embedded=ending.result.embedded)
    else:
        task.note(ending=str(ending)[-800:])


def _plain(
    image_id: int, key: bytes | None, failure: str | None
) -> tuple[int, str | None, str | None]:
    return image_id, None if key is None else key.hex(), failure


def _end(worker: Worker) -> None:
    worker.close()
    if not worker.join(END_S):
        worker.kill()
        raise TimeoutError("the owner of the readers does not end")
