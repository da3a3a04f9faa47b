"""The text of a report."""

from pathlib import Path

import pytest

from app.reports.logic import LINES_OF_EACH, faulty_worker_sessions, report_text
from engine import __version__
from engine.config import log_folder
from engine.log import ProcessKind, logging_to_file


def test_a_report_says_what_is_needed_and_not_who_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Versions, system, device, the end of each log; the home folder is masked."""
    monkeypatch.setenv("HOME", "/somewhere/anna")
    session = "".join(
        f"line {number} of /somewhere/anna/birds.protoleaf\n" for number in range(500)
    )
    text = report_text("Device: CPU", [session, "", "a worker's"])
    assert text.startswith(f"protoleaf {__version__}\nPython 3")
    assert "\nnumpy " in text
    assert "\nDevice: CPU\n" in text
    assert "line 499 of ~/birds.protoleaf" in text
    assert text.count("line ") == LINES_OF_EACH
    assert text.endswith("\n\na worker's\n")
    assert "anna" not in text


@pytest.mark.slow
def test_workers_are_in_it_when_something_went_wrong(tmp_path: Path) -> None:
    """A worker without an error is left out."""
    with logging_to_file(ProcessKind.WORKER):
        pass
    assert faulty_worker_sessions() == []
    with pytest.raises(LookupError), logging_to_file(ProcessKind.WORKER):
        raise LookupError("no such leaf")
    (session,) = faulty_worker_sessions()
    assert "LookupError: no such leaf" in session
    assert log_folder().is_relative_to(tmp_path.parent)
