"""Texts about folders whose subfolders may be classes."""

import pytest

from app.importing.wording import (
    add_text,
    file_kinds,
    folders_question,
    parts_note,
    raw_doubles_text,
)


def test_some_of_the_folders_are_named() -> None:
    """The first names of folders, then an ellipsis."""
    assert folders_question(["Fox"]) == "Are these folders your classes? Fox"
    assert folders_question(["a", "b", "c", "d"]) == "Are these folders your classes? a, b, c, …"


def test_parts_of_data_sets_are_pointed_out() -> None:
    """They are no classes, and their boxes are imported otherwise."""
    assert parts_note(["Fox", "site A"]) == ""
    assert parts_note(["Fox", "train", "images"]).startswith(
        "train, images: usual names of parts of a data set"
    )


def test_the_button_says_what_becomes_of_the_folders() -> None:
    """Images dropped on a class are labelled with it where no folder is a class."""
    assert add_text(0, "") == "Add without classes"
    assert add_text(0, "Gull") == "Label all as Gull"
    assert (add_text(1, ""), add_text(3, "Gull")) == ("Add with 1 class", "Add with 3 classes")


def test_the_dialog_offers_what_is_read() -> None:
    """Every suffix in lower and upper case, for case-sensitive systems, and all files."""
    kinds = file_kinds()
    assert kinds.startswith("Images (*")
    assert kinds.endswith(";;All files (*)")
    assert {"*.jpg", "*.HEIC", "*.avif", "*.CR3", "*.nef", "*.TIF"} <= set(
        kinds.partition("(")[2].partition(")")[0].split()
    )


@pytest.mark.parametrize(
    ("count", "words"),
    [(0, ""), (1, "1 RAW photo was skipped:"), (12, "12 RAW photos were skipped:")],
)
def test_raw_photos_beside_developed_ones(count: int, words: str) -> None:
    """Texts have singular and plural."""
    assert raw_doubles_text(count).startswith(words)
