"""Actions in words: a toast and the history show the same text, Undo and Redo show it as a command."""

from typing import Any

import pytest

from engine.project.action_texts import (
    added_text,
    attributes_text,
    command_text,
    imported_text,
    label_text,
    linked_text,
    merged_text,
    moved_text,
    pasted_text,
    policy_text,
    remove_classes_text,
    split_text,
    unlinked_text,
)


@pytest.mark.parametrize(
    ("text", "command"),
    [
        (label_text(3, "Gull"), "Label 3 images as Gull"),
        (moved_text(["Gull"], None), "Move class Gull to the top level"),
        (split_text("Gull", ["Tern"]), "Split Tern off Gull"),
        (unlinked_text(["Bird"], ["Gull"]), "Unlink Gull from Bird"),
        ("Turned on learning from unlabelled images", "Turn on learning from unlabelled images"),
        ("Restored", "Restored"),
    ],
)
def test_undo_names_the_action_as_a_command(text: str, command: str) -> None:
    """A verb that nobody listed stays as it is."""
    assert command_text(text) == command


@pytest.mark.parametrize(
    ("images", "labels", "class_names", "text"),
    [
        (2640, 0, (), "Added 2,640 images"),
        (1, 1, ("Gull",), "Added 1 image as Gull"),
        (40, 40, ("Gull", "Tern"), "Added 40 images in 2 classes"),
        (3, 2, (), "Added 3 images and 2 labels"),
        (0, 1, (), "Added 1 label"),
        (0, 0, (), "Added 0 images"),
    ],
)
def test_adding_images(images: int, labels: int, class_names: tuple[str, ...], text: str) -> None:
    """Counts of what is new, and the class where there is only one."""
    assert added_text(images, labels, class_names) == text


@pytest.mark.parametrize(
    ("classes", "links", "names", "text"),
    [
        (7, 6, 2, "Imported 7 classes from classes.csv"),
        (1, 0, 0, "Imported 1 class from classes.csv"),
        (0, 3, 2, "Imported 3 parents from classes.csv"),
        (0, 0, 2, "Imported synonyms of 2 classes from classes.csv"),
    ],
)
def test_importing_a_class_list(classes: int, links: int, names: int, text: str) -> None:
    """What is most of the news in it."""
    assert imported_text("classes.csv", classes, links, names) == text


def test_labels_and_classes() -> None:
    """The past tense, with the class's name and what became of its labels."""
    assert label_text(12, "Gull") == "Labelled 12 images as Gull"
    assert label_text(1, None) == "Labelled 1 image as none of the classes"
    assert merged_text(["Gulls"], "Gull") == "Merged Gulls into Gull"
    assert merged_text(["Gulls"], "Gull", 1) == "Merged Gulls into Gull (1 label moved)"
    assert merged_text(["Gulls", "Mew"], "Gull", 9) == "Merged 2 classes into Gull (9 labels moved)"
    assert split_text("Gull", ["Herring"], 12) == "Split Herring off Gull (12 labels moved)"
    assert split_text("Gull", ["Herring", "Common"]) == "Split 2 classes off Gull"


@pytest.mark.parametrize(
    ("chosen", "below", "fates", "text"),
    [
        (["Gull"], 0, {}, "Removed class Gull"),
        (["Gull"], 0, {"moved": 3, "heir_name": "Bird"}, "Removed class Gull (3 labels moved to Bird)"),
        (["Gull"], 0, {"removed": 1}, "Removed class Gull (1 label removed)"),
        (["Gull"], 4, {}, "Removed class Gull and 4 below it"),
        (
            ["Gull", "Tern"], 1_200, {"moved": 2, "removed": 5},
            "Removed 2 classes and 1,200 below them (2 labels moved to their parents, 5 labels removed)",
        ),
    ],
)  # fmt: skip
def test_removing_classes(chosen: list[str], below: int, fates: dict[str, Any], text: str) -> None:
    """What goes, and what becomes of its labels."""
    assert remove_classes_text(chosen, below, **fates) == text


def test_where_classes_stand() -> None:
    """One class by its name, several by their count."""
    assert moved_text(["Gull"], None) == "Moved class Gull to the top level"
    assert moved_text(["Gull", "Tern"], "Bird") == "Moved 2 classes to Bird"
    assert linked_text("Bird", ["Gull", "Tern", "Auk"]) == "Added parent Bird to 3 classes"
    assert linked_text("Bird", ["Gull"]) == "Added parent Bird to Gull"
    assert unlinked_text(["Bird"], ["Gull", "Tern"]) == "Unlinked 2 classes from Bird"
    assert unlinked_text(["Bird", "Diver"], ["Gull"]) == "Unlinked Gull from 2 parents"


def test_pasting_classes() -> None:
    """What came, with how much below it, and where to."""
    assert pasted_text(["Gull"], 0, None) == "Pasted class Gull"
    assert pasted_text(["Gull"], 12, "Bird") == "Pasted class Gull and 12 below it into Bird"
    assert pasted_text(["Gull", "Tern"], 1_200, "Bird") == "Pasted 2 classes and 1,200 below them into Bird"


def test_notes_and_colours() -> None:
    """The text says which of the two was changed."""
    assert attributes_text(["note"], ["Gull"]) == "Changed the note of Gull"
    assert attributes_text(["note", "colour"], ["Gull"]) == "Changed note and colour of Gull"
    assert attributes_text(["colour"], ["Gull", "Auk"]) == "Changed the colour of 2 classes"


@pytest.mark.parametrize(
    ("bar_changed", "is_deepest", "text"),
    [
        (True, False, "Changed the confidence needed for Gull"),
        (False, True, "Stopped predictions at Gull"),
        (False, False, "Allowed predictions below Gull"),
    ],
)
def test_how_sure_the_program_must_be(bar_changed: bool, is_deepest: bool, text: str) -> None:
    """The text says which of the two was changed."""
    assert policy_text("Gull", bar_changed=bar_changed, is_deepest=is_deepest) == text
