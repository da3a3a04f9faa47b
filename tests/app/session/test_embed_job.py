"""Phases of embedding and their transitions."""

import pytest
from PySide6.QtCore import Qt

from app.image_grid.held_order import Order
from app.session import embed_job
from app.session.embed_job import (
    FEWEST,
    MOST,
    TRANSITIONS,
    EmbeddingPhase,
    Event,
    after,
    images_at_once,
)
from app.settings import Settings
from engine.embedding.messages import EmbedSummary
from engine.project import Project
from tests.support.collections import Collection
from tests.support.desk import Desk
from tests.support.scripted_workers import ScriptedWorkers, ended


def led(*events: Event) -> EmbeddingPhase:
    phase = EmbeddingPhase.IDLE
    for event in events:
        phase = after(phase, event)
    return phase


@pytest.mark.parametrize(
    ("events", "phase"),
    [
        ((Event.BEGUN, Event.ENDED), EmbeddingPhase.IDLE),
        ((Event.BEGUN, Event.ASKED, Event.CANCELLED, Event.ENDED), EmbeddingPhase.IDLE),
        ((Event.BEGUN, Event.CANCELLED, Event.ENDED), EmbeddingPhase.PAUSED),
        ((Event.BEGUN, Event.STOPPED, Event.ENDED), EmbeddingPhase.PAUSED),
        (
            (Event.BEGUN, Event.STOPPED, Event.ASKED, Event.CANCELLED, Event.ENDED),
            EmbeddingPhase.IDLE,
        ),
        (
            (Event.BEGUN, Event.ASKED, Event.STOPPED, Event.CANCELLED, Event.ENDED),
            EmbeddingPhase.PAUSED,
        ),
        ((Event.BEGUN, Event.HELD, Event.CANCELLED, Event.ENDED), EmbeddingPhase.IDLE),
        ((Event.STOPPED,), EmbeddingPhase.PAUSED),
        ((Event.STOPPED, Event.BEGUN), EmbeddingPhase.PAUSED),
        ((Event.STOPPED, Event.ASKED), EmbeddingPhase.IDLE),
    ],
)
def test_events_lead_to_a_phase(events: tuple[Event, ...], phase: EmbeddingPhase) -> None:
    """A cancelled run with a pending request continues; one stopped by a person is paused."""
    assert led(*events) is phase


def test_every_phase_can_be_left_and_is_reached() -> None:
    """The transition table has no dead end and no unused phase or event."""
    assert {phase for phase, _event in TRANSITIONS} == set(EmbeddingPhase)
    assert set(TRANSITIONS.values()) == set(EmbeddingPhase)
    assert {event for _phase, event in TRANSITIONS} == set(Event)


def test_only_a_run_can_end() -> None:
    """ENDED has no effect in other phases."""
    assert after(EmbeddingPhase.PAUSED, Event.ENDED) is EmbeddingPhase.PAUSED
    assert after(EmbeddingPhase.IDLE, Event.CANCELLED) is EmbeddingPhase.IDLE
    assert [phase for phase in EmbeddingPhase if phase.is_stopped] == [
        EmbeddingPhase.STOPPING,
        EmbeddingPhase.PAUSED,
    ]


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """One or two cards per screen."""
    settings.zoom = 400
    return settings


@pytest.mark.slow
def test_what_is_scrolled_to_is_embedded_next(
    desk: Desk, unread: Collection, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first cards come first; after End, the last ones precede those between."""
    monkeypatch.setattr(embed_job, "FEWEST", 2)
    embedding, workers = (
        desk.window.embedding,
        ScriptedWorkers([["wait for a word", ended("CPU")], ["wait"]]),
    )
    monkeypatch.setattr(embedding, "_start_worker", workers)
    desk.window.resize(1000, 640)
    with Project.open(unread.project, for_writing=False) as project:
        settings.remember_order(project.backups.project_id, Order.ADDED.value)
    desk.window.session.open(unread.project)
    desk.wait(lambda: len(workers.requests) == 1)
    desk.wait(desk.grid.hasFocus)
    desk.press(Qt.Key.Key_End)
    last = desk.grid.current_id
    assert embedding.worker is not None
    embedding.worker._lines.put(b'{"kind": "Word"}\n')  # noqa: SLF001 (ends the first request)
    desk.wait(lambda: len(workers.requests) == 2)
    first, second = ([image.image_id for image in request.images] for request in workers.requests)
    assert first == [1, 2]
    assert last in second
    assert second[0] == min(desk.window.workspace.ids_in_view()) > first[-1]


@pytest.mark.parametrize(
    ("done", "seconds", "expected"),
    [(0, 0.0, FEWEST), (256, 0.1, MOST), (256, 2.0, 384), (256, 60.0, FEWEST)],
    ids=["nothing is known", "fast", "150 images/s", "slow"],
)
def test_a_request_takes_some_seconds(done: int, seconds: float, expected: int) -> None:
    """A request has images for a few seconds at any speed, which delays newly visible images."""
    assert images_at_once(EmbedSummary(done, 0, (), 0, seconds, 0.0, "CPU")) == expected
