"""Killed, stopped and starved readers: no loss, no leftovers, and planted faults detected."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from multiprocessing import resource_tracker
from pathlib import Path

import pytest

from engine.embedding import readers
from engine.embedding.embed_chunk import ReadChunk
from tests.trust import reader_scene
from tests.trust.reader_breaker import Bench, Breaking, bench_in, break_one, break_readers
from tests.trust.stages import Stage


@pytest.mark.slow
def test_nothing_is_lost_and_nothing_stays_behind(stage: Stage) -> None:
    """A few ways; `python -m tests.trust --readers COUNT` does more."""
    row = break_readers(stage, 5, seed=1)
    assert row.faults == ()
    assert row.acknowledged > 500


@pytest.fixture(scope="module")
def bench(stage: Stage) -> Iterator[Bench]:
    """Photos and the results of an undisturbed run."""
    with bench_in(stage.folder) as bench:
        yield bench


@pytest.fixture
def impatient(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Folder of a trial with a short timeout for leftovers."""
    monkeypatch.setattr(reader_scene, "LEFT_S", 1.0)
    return stage.folder


def drop_what_is_left() -> None:
    """Drop the remaining files of a failed reader."""
    after_failure = readers.ProcessReaders._after_failure  # noqa: SLF001 (planted fault)

    def drop(*arguments: object) -> ReadChunk:
        chunk = after_failure(*arguments)  # type: ignore[arg-type]
        return replace(chunk, requests=chunk.requests[: len(chunk.photos)])

    setattr(readers.ProcessReaders, "_after_failure", drop)  # noqa: B010 (a method)


def exchange_pixels() -> None:
    """Exchange the pixels of photos read together."""
    chunk_of = readers.ProcessReaders._chunk  # noqa: SLF001 (planted fault)

    def exchange(*arguments: object) -> ReadChunk:
        chunk = chunk_of(*arguments)  # type: ignore[arg-type]
        return replace(chunk, pixels=chunk.pixels[::-1])

    setattr(readers.ProcessReaders, "_chunk", exchange)  # noqa: B010 (a method)


def forget_memory_and_a_process() -> None:
    """Leave shared memory and a running process."""
    setattr(resource_tracker, "register", lambda _name, _kind: None)  # noqa: B010 (a function)
    setattr(readers._Reader, "stop", lambda _reader: None)  # noqa: B010, SLF001 (planted)
    command = [sys.executable, "-S", "-c", "import select; select.select([], [], [], 600)"]
    subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("plant", "kind", "words"),
    [
        (drop_what_is_left, "lost", ["photos were not reported"]),
        (exchange_pixels, "wrong", ["other embeddings"]),
        (
            forget_memory_and_a_process,
            "other",
            ["left behind: process", "left behind: shared memory"],
        ),
    ],
)
def test_what_is_planted_is_found(
    bench: Bench, impatient: Path, plant: Callable[[], None], kind: str, words: list[str]
) -> None:
    """Dropped photos, exchanged embeddings, and leftovers."""
    planted = f"{__name__}:{plant.__name__}"
    found = break_one(bench, impatient, Breaking("files end their readers", 1, planted)).faults
    assert {fault.kind for fault in found} == {kind}
    assert all(any(word in fault.text for fault in found) for word in words)
