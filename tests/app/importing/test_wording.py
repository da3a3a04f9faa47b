"""What is asked about folders whose sub-folders may be classes."""

import pytest

from app.importing.controller import file_kinds, folders_question, make_classes, only_add_images, raw_doubles_text


@pytest.mark.parametrize(
    ("folder", "count", "question", "answer"),
    [
        ("bad", 1, "“bad” has 1 subfolder with images. Make it a class?", "Make a class"),
        ("photos", 12, "“photos” has 12 subfolders with images. Make them classes?", "Make classes"),
        ("", 2, "What you dropped has 2 subfolders with images. Make them classes?", "Make classes"),
    ],
)
def test_one_and_many_sub_folders(folder: str, count: int, question: str, answer: str) -> None:
    """Numbers and words agree."""
    assert (folders_question(folder, count), make_classes(count)) == (question, answer)


def test_the_other_answer_names_the_class_that_was_dropped_on() -> None:
    """Images dropped on a class become shots of it."""
    assert only_add_images("Gull") == "Label all as Gull"
    assert only_add_images("") == "Only add the images"


def test_the_dialog_offers_what_is_read() -> None:
    """Every suffix in either case, as some systems tell them apart, and all files besides."""
    kinds = file_kinds()
    assert kinds.startswith("Images (*")
    assert kinds.endswith(";;All files (*)")
    assert {"*.jpg", "*.HEIC", "*.avif", "*.CR3", "*.nef", "*.TIF"} <= set(
        kinds.partition("(")[2].partition(")")[0].split()
    )


@pytest.mark.parametrize(
    ("count", "words"), [(0, ""), (1, "1 RAW photo was skipped:"), (12, "12 RAW photos were skipped:")]
)
def test_raw_photos_beside_developed_ones(count: int, words: str) -> None:
    """Numbers and words agree."""
    assert raw_doubles_text(count).startswith(words)
