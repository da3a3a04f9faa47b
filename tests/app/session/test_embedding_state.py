"""Where embedding is, and what leads where."""

import pytest

from app.session.embedding_state import TRANSITIONS, EmbeddingPhase, Event, after


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
        ((Event.BEGUN, Event.STOPPED, Event.ASKED, Event.CANCELLED, Event.ENDED), EmbeddingPhase.IDLE),
        ((Event.BEGUN, Event.ASKED, Event.STOPPED, Event.CANCELLED, Event.ENDED), EmbeddingPhase.PAUSED),
        ((Event.BEGUN, Event.HELD, Event.CANCELLED, Event.ENDED), EmbeddingPhase.IDLE),
        ((Event.STOPPED,), EmbeddingPhase.PAUSED),
        ((Event.STOPPED, Event.BEGUN), EmbeddingPhase.PAUSED),
        ((Event.STOPPED, Event.ASKED), EmbeddingPhase.IDLE),
    ],
)
def test_events_lead_to_a_phase(events: tuple[Event, ...], phase: EmbeddingPhase) -> None:
    """A run that is followed goes on after a cancel; one that a person stops does not until it is asked for."""
    assert led(*events) is phase


def test_every_phase_can_be_left_and_is_reached() -> None:
    """No phase is a trap, and none stands in the table for nothing."""
    assert {phase for phase, _event in TRANSITIONS} == set(EmbeddingPhase)
    assert set(TRANSITIONS.values()) == set(EmbeddingPhase)
    assert {event for _phase, event in TRANSITIONS} == set(Event)


def test_only_a_run_can_end() -> None:
    """What is over cannot end again."""
    assert after(EmbeddingPhase.PAUSED, Event.ENDED) is EmbeddingPhase.PAUSED
    assert after(EmbeddingPhase.IDLE, Event.CANCELLED) is EmbeddingPhase.IDLE
    assert [phase for phase in EmbeddingPhase if phase.is_stopped] == [EmbeddingPhase.STOPPING, EmbeddingPhase.PAUSED]
