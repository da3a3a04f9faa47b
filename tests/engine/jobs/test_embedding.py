"""The embedding worker: results, open resources, and kills."""

from dataclasses import replace
from typing import Any

import psutil
import pytest

from engine.collection.embed import open_cache
from engine.collection.models import find_model
from engine.embedding.messages import EmbedBatch, EmbedSummary
from engine.events import CancelToken, Progress
from engine.jobs import Embedder
from engine.project import Project
from engine.worker.client import Died, Done, Ending, Worker
from engine.worker.protocol import Failed, Stopped
from tests.support.collections import Collection
from tests.support.served import served
from tests.support.unread import UNREAD_IMAGES, embed_request

WAIT_S = 60


@pytest.mark.slow
def test_every_image_is_answered(unread: Collection) -> None:
    """Progress, a result for each image and figures; the worker does not write to the project."""
    answer = served(embed_request(unread))
    assert answer.status == 0
    rows = [row for batch in answer.of(EmbedBatch) for row in batch.results]
    with Project.open(unread.project) as project:
        table = project.images.table()
        assert sorted(row.image_id for row in rows) == list(table.ids)
        assert set(table.content_hashes) == {None}
    progress = answer.of(Progress)[-1]
    assert progress.done == progress.total == UNREAD_IMAGES
    assert isinstance(answer.ending, EmbedSummary)
    assert (answer.ending.embedded, answer.ending.failure_count) == (UNREAD_IMAGES, 0)


@pytest.mark.slow
def test_only_what_was_asked_for_is_answered(unread: Collection) -> None:
    """Three of a dozen are embedded, and progress continues."""
    request = embed_request(unread)
    answer = served(replace(request, images=request.images[4:7], done_before=4, total=7))
    rows = [row.image_id for batch in answer.of(EmbedBatch) for row in batch.results]
    assert sorted(rows) == [image.image_id for image in request.images[4:7]]
    assert answer.ending.embedded == 3
    assert (
        answer.of(Progress)[0].done,
        answer.of(Progress)[-1].done,
        answer.of(Progress)[-1].total,
    ) == (4, 7, 7)
    kept = [row.content_hash for batch in answer.of(EmbedBatch) for row in batch.results]
    with open_cache(find_model(), unread.caches) as cache:
        assert cache.missing(kept) == []


@pytest.mark.slow
def test_a_second_run_takes_what_the_first_one_kept(unread: Collection) -> None:
    """Cached results are used, also after a cancelled run."""
    assert [served(embed_request(unread)).ending.embedded for _ in range(2)] == [UNREAD_IMAGES, 0]


@pytest.mark.slow
def test_backbone_and_cache_stay_open(unread: Collection, monkeypatch: pytest.MonkeyPatch) -> None:
    """The next request reuses them; another device or a failed GPU opens them again."""
    from engine.runtime import backbone

    opened: list[object] = []
    original = backbone.BackboneSession

    def counted(*arguments: Any) -> backbone.BackboneSession:
        opened.append(arguments)
        return original(*arguments)

    monkeypatch.setattr(backbone, "BackboneSession", counted)
    request, embedder = embed_request(unread), Embedder()
    for device in ("cpu", "cpu", "auto", "auto"):
        embedder.embed(
            replace(request, images=request.images[:1], device=device),
            lambda _event: None,
            CancelToken(),
        )
    assert len(opened) == 2
    assert embedder._session is not None  # noqa: SLF001 (not reported)
    monkeypatch.setattr(original, "notice", "the GPU failed")
    for _ in range(2):
        embedder.embed(
            replace(request, images=request.images[:1]), lambda _event: None, CancelToken()
        )
    embedder.close()
    assert len(opened) == 4


@pytest.mark.slow
def test_readers_of_a_device_stay_until_it_is_closed(
    unread: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a simulated GPU two requests use the same processes."""
    from engine.runtime.backbone import BackboneSession

    monkeypatch.setattr(BackboneSession, "is_on_gpu", True)
    request, embedder = embed_request(unread), Embedder()
    half = len(request.images) // 2
    first = replace(request, images=request.images[:half])
    assert embedder.embed(first, lambda _event: None, CancelToken()).embedded == half
    readers = reading()
    assert readers
    assert (
        embedder.embed(request, lambda _event: None, CancelToken()).embedded == UNREAD_IMAGES - half
    )
    assert reading() == readers
    embedder.close()
    assert reading() == set()


def reading() -> set[int]:
    """Reader processes."""
    found = psutil.Process().children()
    return {each.pid for each in found if any("engine.jobs" in part for part in each.cmdline())}


@pytest.mark.slow
def test_a_killed_worker_leaves_project_and_cache_sound(unread: Collection) -> None:
    """After SIGKILL the project has no temporary files, and the next run finishes."""
    endings: list[Ending] = []
    worker = Worker()
    worker.send(embed_request(unread), lambda _event: worker.kill(), endings.append)
    assert worker.join(WAIT_S)
    assert isinstance(endings[0], Died)
    with Project.open(unread.project) as project:
        assert project.check() == []
    result = served(embed_request(unread)).ending
    assert result.embedded + result.from_cache == UNREAD_IMAGES


@pytest.mark.slow
def test_a_worker_whose_window_died_stops(unread: Collection) -> None:
    """A worker ends quietly with its parent."""
    endings: list[Ending] = []
    worker = Worker()
    worker.send(embed_request(unread), lambda _event: None, endings.append)
    worker.close()
    assert worker.join(WAIT_S)
    assert endings in (
        [Stopped()],
        [Done(endings[0].result)] if isinstance(endings[0], Done) else [],
    )


def test_a_missing_backbone_is_a_sentence(unread: Collection) -> None:
    """A backbone removed in the meantime."""
    answer = served(replace(embed_request(unread), backbone=unread.folder / "gone.onnx"))
    assert answer.status == 1
    assert isinstance(answer.ending, Failed)
    assert "gone.onnx" in answer.ending.message
