"""Training during other work: started, cancelled; started again, finished, kept or not."""

from pathlib import Path

import pytest

from engine.config import CacheFolders
from tests.robot.patience import wait_for
from tests.robot.person import Person
from tests.robot.prepared import prepared_project
from tests.robot.project_file import labels_in, model_versions_in

TRAINING_S = 120.0


@pytest.fixture
def project(person: Person, tmp_path: Path, caches: CacheFolders) -> Path:
    """An open project with enough labels, and the tuning panel."""
    path = prepared_project(tmp_path, caches, 200, shots=6)
    person.open(path)
    person.hand.key("Ctrl+T")
    return path


def test_a_training_is_cancelled(person: Person, project: Path) -> None:
    """It makes no version, and labelling works meanwhile."""
    versions, labels = model_versions_in(project), len(labels_in(project))
    person.click("Start", "push button")
    cancel = person.part("Cancel", "push button")
    person.hand.click(person.cards(person.grid)[0].area.centre)
    person.hand.key("U")
    wait_for(lambda: len(labels_in(project)) >= labels, "a label meanwhile")
    person.hand.click(cancel.area.centre)
    person.part("Start", "push button")
    assert model_versions_in(project) == versions


@pytest.mark.slow
def test_a_training_ends_with_a_version(person: Person, project: Path) -> None:
    """Both versions are compared; the current one is kept, the new one stays in the list."""
    versions = model_versions_in(project)
    field = wait_for(lambda: person.reader.of_role("spin box"), "the number of iterations")[0]
    person.hand.double_click(field.area.centre)
    person.hand.key("Ctrl+A")
    person.hand.type("100")
    person.hand.key("Tab")
    person.click("Start", "push button")
    person.hand.click(
        person.part_containing("Keep the current", "push button", TRAINING_S).area.centre
    )
    assert model_versions_in(project) == versions + 1
