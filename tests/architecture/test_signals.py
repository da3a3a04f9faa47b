"""Signals declare their argument types."""

import re
from pathlib import Path

import pytest
from PySide6.QtCore import QObject, Signal

from app.signal_types import either
from engine.graph.codes import NO_CLASS

APP = Path(__file__).parents[2] / "app"
CARRY_ANYTHING = {
    "jobs/job.py": "what a job's work returned",
    "jobs/slot.py": "what a job's work returned",
    "jobs/process_job.py": "whatever events the request declares",
}


def test_signals_say_what_they_carry() -> None:
    unclear = {
        path.relative_to(APP).as_posix()
        for path in APP.rglob("*.py")
        if re.search(r"Signal\([^\n]*\bobject\b", path.read_text(encoding="utf-8"))
    }
    assert unclear <= CARRY_ANYTHING.keys()


@pytest.mark.parametrize("value", [3, 2**40, None, NO_CLASS])
def test_signal_of_several_types_carries_each_as_it_is(value: int | None) -> None:
    class Source(QObject):
        chosen = Signal(either(int | None))

    source, seen = Source(), list[object]()
    source.chosen.connect(seen.append)
    source.chosen.emit(value)
    assert seen == [value]
    assert isinstance(value, either(int | None))
    assert not isinstance("3", either(int | None))
