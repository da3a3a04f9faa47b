"""A long list of classes and one label: nothing is accepted, and the screen gives the reason."""

from pathlib import Path

import pytest

from engine.config import CacheFolders
from engine.graph.category_graph import CategoryGraph
from engine.project import Project
from tests.robot.patience import wait_for
from tests.robot.person import Person
from tests.robot.prepared import FAMILIES, LEAVES, prepared_project
from tests.robot.project_file import labels_in
from tests.support.projects import named

CLASSES = 505
IMAGES = 40
SEEN = f"1 of {CLASSES} classes has examples"


@pytest.fixture
def project(tmp_path: Path, caches: CacheFolders) -> Path:
    """Pictures of birds without labels; most classes of the flat list have no images."""
    path = prepared_project(tmp_path, caches, IMAGES, shots=0, with_views=True)
    with Project.open(path) as opened:
        opened.classes.edit(make_list, named("Make a list"))
    return path


def make_list(graph: CategoryGraph) -> None:
    """Remove the families, and add other classes."""
    graph.remove(*(graph.find(family) for family in FAMILIES))
    for number in range(CLASSES - len(LEAVES)):
        graph.add_class(f"Other {number}")


def test_one_label_makes_nothing_sure(person: Person, project: Path) -> None:
    """The next class is proposed, and neither Enter nor the button accepts anything."""
    person.open(project)
    person.hand.click(person.cards(person.grid)[0].area.centre)
    person.hand.key("R")
    person.part_containing("Label as: name", "text")
    person.hand.type("Kestrel")
    person.hand.key("Enter")
    wait_for(lambda: set(labels_in(project).values()) == {"Kestrel"}, "the label")
    person.click("Got it", "push button")
    person.part_containing(f"{SEEN}. Label 3 images of each; next: ")

    person.show_subset("To review")
    person.hand.click(person.cards(person.grid)[0].area.centre)
    person.part_containing("Why ")
    assert person.reader.containing("Confident: ") is None
    person.hand.key("Ctrl+A")
    person.part_containing(f"{SEEN}. Nothing here is sure enough yet: label more classes")
    assert not person.part("Accept 0", "push button").is_enabled
    person.hand.key("Enter")
    person.part_containing("has an unlabelled prediction above")
    assert len(labels_in(project)) == 1
