"""The palettes: commands, classes and labels by a few letters and Enter."""

from pathlib import Path

import pytest

from engine.config import CacheFolders
from tests.robot.patience import wait_for
from tests.robot.person import Person
from tests.robot.prepared import prepared_project
from tests.robot.project_file import labels_in, parents_in


@pytest.fixture
def project(person: Person, tmp_path: Path, caches: CacheFolders) -> Path:
    """A small open project with its first card selected."""
    path = prepared_project(tmp_path, caches, 80, shots=0)
    person.open(path)
    person.hand.click(person.cards(person.grid)[0].area.centre)
    return path


def test_a_class_is_found_and_chosen(person: Person, project: Path) -> None:
    """Ctrl+K, a part of its name, Enter: its images are shown."""
    person.hand.key("Ctrl+K")
    person.wait(lambda: person.reader.focused("text"), "the palette")
    person.hand.type("tawny")
    person.hand.key("Enter")
    person.part("Tawny owl", "label")


def test_an_image_is_labelled_by_name_and_as_a_new_class(person: Person, project: Path) -> None:
    """R, a part of the name, Enter; an unknown name becomes a class."""
    first, second = person.cards(person.grid)[:2]
    _label_by_name(person, project, "kittiw", 1)
    person.wait_until_calm()
    person.hand.click(person.card(second.number).centre)
    _label_by_name(person, project, "Osprey", 2)
    assert labels_in(project) == {first.number: "Kittiwake", second.number: "Osprey"}
    assert "Osprey" in parents_in(project)


def test_escape_closes_the_palette(person: Person, project: Path) -> None:
    """Keys act on the card again."""
    card = person.cards(person.grid)[0]
    person.hand.key("Ctrl+K")
    person.wait(lambda: person.reader.focused("text"), "the palette")
    person.hand.key("Esc")
    person.wait(lambda: not person.reader.focused("text"), "no palette")
    person.hand.key("U")
    wait_for(lambda: labels_in(project), "the label")
    assert labels_in(project) == {card.number: "?"}


def _label_by_name(person: Person, project: Path, text: str, count: int) -> None:
    """Label the selected image; wait for this number of labels."""
    person.hand.key("R")
    person.wait(lambda: person.reader.focused("text"), "the palette")
    person.hand.type(text)
    person.hand.key("Enter")
    wait_for(lambda: len(labels_in(project)) == count, f"{count} labels")
