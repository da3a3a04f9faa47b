"""A class dragged onto another is moved, or with Ctrl linked."""

from pathlib import Path

import pytest

from engine.config import CacheFolders
from tests.robot.patience import wait_for
from tests.robot.person import Person
from tests.robot.prepared import prepared_project
from tests.robot.project_file import parents_in

CLASS, FROM, TO = "Merlin", "Falcons", "Thrushes"


@pytest.fixture
def project(person: Person, tmp_path: Path, caches: CacheFolders) -> Path:
    """A small open project in which the class is visible."""
    path = prepared_project(tmp_path, caches, 20)
    person.open(path)
    person.unfold(FROM)
    person.class_row(CLASS)
    return path


def test_a_class_moves(person: Person, project: Path) -> None:
    """Its parent is replaced; undo restores it."""
    person.drag(person.class_row(CLASS).centre, person.class_row(TO).centre)
    wait_for(lambda: parents_in(project)[CLASS] == {TO}, f"{CLASS} under {TO}")
    person.hand.key("Ctrl+Z")
    wait_for(lambda: parents_in(project)[CLASS] == {FROM}, f"{CLASS} under {FROM} again")


def test_with_ctrl_it_gets_a_second_parent(person: Person, project: Path) -> None:
    """Both parents stay."""
    row, target = person.class_row(CLASS), person.class_row(TO)
    person.pick_up(row.centre)
    with person.hand.holding("Ctrl"):
        person.drop(target.centre)
    wait_for(lambda: parents_in(project)[CLASS] == {FROM, TO}, f"{CLASS} under both")
