"""Keyboard focus: the images after choosing an order, the focused button, no removed widget."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from engine.config import CacheFolders
from tests.robot.patience import wait_for, wait_until_still
from tests.robot.person import Person
from tests.robot.prepared import FAMILIES, NAMES, prepared_project
from tests.robot.project_file import labels_in, parents_in
from tests.robot.review import Review
from tests.support.collections import write_graph

STILL_S = 1.0
"""Longer than the reaction time, so that a key refers to what is shown."""
MOST_TABS = 12
"""Tab presses to reach any button of a small panel."""


@pytest.fixture
def project(person: Person, tmp_path: Path, caches: CacheFolders) -> Path:
    """A small open project."""
    path = prepared_project(tmp_path, caches, 200, shots=6)
    person.open(path)
    return path


def tab_to(person: Person, name: str) -> None:
    """Press Tab until a button has the focus."""
    for _press in range(MOST_TABS):
        focused = person.reader.focused("push button")
        if focused is not None and focused.name == name:
            return
        person.hand.key("Tab")
    pytest.fail(f"no way to “{name}” by Tab")


def new_label(project: Path, before: Mapping[int, str]) -> Mapping[int, str]:
    """The label that was added."""
    wait_for(lambda: len(labels_in(project)) == len(before) + 1, "a label")
    return {number: label for number, label in labels_in(project).items() if number not in before}


@pytest.mark.slow
def test_keys_mean_images_after_an_order_was_chosen(person: Person, project: Path) -> None:
    """By mouse or keys: the next key labels the current card."""
    person.show_subset("To review")
    person.wait_until_analysed()
    person.hand.click(person.cards(person.grid)[0].area.centre)
    review = Review(person, NAMES)
    for name, choose in (("Most certain first", "click"), ("In the order added", "keys")):
        before = labels_in(project)
        list_of_orders = next(part for part in person.reader.of_role("combo box"))
        person.hand.click(list_of_orders.area.centre)
        if choose == "click":
            person.click(name, "list item")
        else:
            person.part(name, "list item")
            person.hand.keys(["Down", "Down"], 4)
            person.hand.key("Return")
        person.part(name, "combo box")
        person.wait_until_calm()
        wait_until_still(review.wait_until_whole, "card and guesses", still_s=STILL_S)
        shown = review.press("1")
        assert new_label(project, before) == {shown.framed[0]: shown.first_guess}


def test_enter_presses_the_button_that_has_the_focus(
    person: Person, project: Path, tmp_path: Path
) -> None:
    """Button "Choose a file…" is reached by Tab and pressed by Enter, which labels no image."""
    classes = write_graph(tmp_path / "classes.csv", {**FAMILIES, "Herons": ("Bittern",)})
    before = labels_in(project)
    person.hand.key("Ctrl+Shift+I")
    wait_for(lambda: len(person.eyes.windows()) > 1, "the dialog for files")
    person.hand.key("Esc")
    person.part("Choose a file…", "push button")
    tab_to(person, "Choose a file…")
    person.hand.key("Return")
    person.answer_file_dialog(classes)
    button = person.part_containing("Import ", "push button")
    tab_to(person, button.name)
    person.hand.key("Return")
    wait_for(lambda: "Bittern" in parents_in(project), "the new class")
    assert labels_in(project) == before


@pytest.mark.slow
def test_starting_a_training_takes_no_key_to_the_versions(person: Person, project: Path) -> None:
    """Started by keys, the next ones cancel it: "Use" of another version is never focused."""
    person.hand.key("Ctrl+T")
    wait_for(
        lambda: (
            (start := person.reader.find("Start", "push button")) is not None and start.is_enabled
        ),
        "Start",
    )
    tab_to(person, "Start")
    person.hand.key("space")
    person.part("Cancel", "push button")
    focused = person.reader.focused("push button")
    assert focused is None or focused.name != "Use"
    tab_to(person, "Cancel")
    person.hand.key("space")
    person.part("Start", "push button")


def test_discarding_what_was_tried_out_closes_its_question(person: Person, project: Path) -> None:
    """Discarding closes the question, whose answer would apply to the real project."""
    before = parents_in(project)
    person.hand.key("Ctrl+Shift+W")
    person.part("Discard changes", "push button")
    person.hand.click(person.class_row("Falcons").centre)
    person.hand.key("Del")
    person.part_containing("Remove Falcons")
    person.click("Discard changes", "push button")
    person.wait(lambda: person.reader.containing("Remove Falcons") is None, "no question any more")
    person.hand.key("Return")
    person.wait_until_calm()
    assert parents_in(project) == before


def test_copied_classes_are_pasted_into_an_empty_project(
    person: Person, project: Path, tmp_path: Path
) -> None:
    """Ctrl+C in one project and Ctrl+V in a new one copy the classes."""
    person.hand.click(person.class_row("Owls").centre)
    person.hand.key("Ctrl+C")
    empty = tmp_path / "empty.protoleaf"
    person.make_empty_project(empty)
    person.hand.key("Ctrl+V")
    wait_for(lambda: {"Owls", "Barn owl"} <= parents_in(empty).keys(), "the classes")
    assert parents_in(project).keys() >= {"Owls", "Barn owl"}
