"""What is asked about folders whose sub-folders may be classes."""

import pytest

from app.importing.wording import folders_question, make_classes, only_add_images


@pytest.mark.parametrize(
    ("folder", "count", "question", "answer"),
    [
        ("bad", 1, "“bad” has 1 sub-folder with images. Make it a class?", "Make a class"),
        ("photos", 12, "“photos” has 12 sub-folders with images. Make them classes?", "Make classes"),
        ("", 2, "What you dropped has 2 sub-folders with images. Make them classes?", "Make classes"),
    ],
)
def test_one_and_many_sub_folders(folder: str, count: int, question: str, answer: str) -> None:
    """Numbers and words agree."""
    assert (folders_question(folder, count), make_classes(count)) == (question, answer)


def test_the_other_answer_names_the_class_that_was_dropped_on() -> None:
    """Images dropped on a class become shots of it."""
    assert only_add_images("Gull") == "Label all as Gull"
    assert only_add_images("") == "Only add the images"
