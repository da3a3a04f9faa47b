"""The report: read, one cell followed to its images and back, and saved."""

from pathlib import Path

from engine.config import CacheFolders
from tests.robot.patience import wait_for
from tests.robot.person import Person
from tests.robot.prepared import LEAVES, prepared_project

HEADING = 26
"""Pixels from the heading down to the matrix."""
INSET = 12
"""Pixels from a corner of the matrix to a point outside of its cells."""
READ_S = 60.0
SAVED_S = 30.0


def test_the_report_is_read_and_saved(person: Person, tmp_path: Path, caches: CacheFolders) -> None:
    """Ctrl+E, the confusion matrix, the images of its first cell, back, and an HTML file."""
    project = prepared_project(tmp_path, caches, 300)
    person.start(project)
    person.hand.key("Ctrl+E")
    person.part_containing("Predictions are compared with ", "label", READ_S)
    person.click("Confusion")
    matrix = person.part("Confusion matrix", "label").area.moved(0, HEADING)
    person.hand.click((matrix.left + INSET, matrix.top + INSET))
    person.hand.key("Right")
    person.hand.key("Return")
    person.part_containing(", predicted ", "label")
    person.hand.key("Esc")
    person.click("Save…")
    out = tmp_path / "birds.html"
    person.answer_file_dialog(out)
    wait_for(out.exists, "the report on the disk", SAVED_S)
    page = out.read_text(encoding="utf-8")
    assert "<h2" in page
    assert all(leaf in page for leaf in LEAVES)
    person.part_containing("Saved the report as birds.html")
