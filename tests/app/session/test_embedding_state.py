"""Where embedding is, and what leads where."""

import pytest

from app.session.embedding_state import TRANSITIONS, Event, Phase, after


def led(*events: Event) -> Phase:
    phase = Phase.IDLE
    for event in events:
        phase = after(phase, event)
    return phase


@pytest.mark.parametrize(
    ("events", "phase"),
    [
        ((Event.BEGUN, Event.ENDED), Phase.IDLE),
        ((Event.BEGUN, Event.ASKED, Event.CANCELLED, Event.ENDED), Phase.IDLE),
        ((Event.BEGUN, Event.CANCELLED, Event.ENDED), Phase.PAUSED),
        ((Event.BEGUN, Event.STOPPED, Event.ENDED), Phase.PAUSED),
        ((Event.BEGUN, Event.STOPPED, Event.ASKED, Event.CANCELLED, Event.ENDED), Phase.IDLE),
        ((Event.BEGUN, Event.ASKED, Event.STOPPED, Event.CANCELLED, Event.ENDED), Phase.PAUSED),
        ((Event.BEGUN, Event.HELD, Event.CANCELLED, Event.ENDED), Phase.IDLE),
        ((Event.STOPPED,), Phase.PAUSED),
        ((Event.STOPPED, Event.BEGUN), Phase.PAUSED),
        ((Event.STOPPED, Event.ASKED), Phase.IDLE),
    ],
)
def test_events_lead_to_a_phase(events: tuple[Event, ...], phase: Phase) -> None:
    """A run that is followed goes on after a cancel; one that a person stops does not until it is asked for."""
    assert led(*events) is phase


def test_every_phase_can_be_left_and_is_reached() -> None:
    """No phase is a trap, and none stands in the table for nothing."""
    assert {phase for phase, _event in TRANSITIONS} == set(Phase)
    assert set(TRANSITIONS.values()) == set(Phase)
    assert {event for _phase, event in TRANSITIONS} == set(Event)


def test_only_a_run_can_end() -> None:
    """What is over cannot end again."""
    assert after(Phase.PAUSED, Event.ENDED) is Phase.PAUSED
    assert after(Phase.IDLE, Event.CANCELLED) is Phase.IDLE
    assert [phase for phase in Phase if phase.is_stopped] == [Phase.STOPPING, Phase.PAUSED]
