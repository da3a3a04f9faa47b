"""Names of categories, from metadata that anybody may have written, and from a person's file."""

from pathlib import Path

import pytest

from engine.detection.category_names import names_in, read_names
from engine.errors import InputError


@pytest.mark.parametrize(
    "text",
    [
        "{0: 'animal', 1: 'person'}",
        '["animal", "person"]',
        '{"0": "animal", "1": "person"}',
        "['animal', 'person']",
    ],
)
def test_forms_of_metadata(text: str) -> None:
    """As Ultralytics writes it, and as JSON."""
    assert names_in({"names": text}) == ("animal", "person")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "animal",
        "{}",
        "[]",
        "5",
        "{0: 'a', 2: 'b'}",
        "{'x': 'a'}",
        "[" * 5_000,
        "__import__('os').getcwd()",
        "{0: 'a'" + " " * 1_000_001 + "}",
        "1" * 100_000,
        "{" * 300,
    ],
)
def test_what_is_no_list_of_names(text: str) -> None:
    """None are known then; nothing is evaluated."""
    assert names_in({"names": text}) == ()


def test_names_that_cannot_be_shown() -> None:
    """They are numbered."""
    assert names_in({"names": "{0: 'a\\nb', 1: '', 2: ' fox '}"}) == ("class 0", "class 1", "fox")


def test_a_file_of_names(tmp_path: Path) -> None:
    """One a line; blank ones at the end do not count."""
    file = tmp_path / "names.txt"
    file.write_text("animal\r\nperson\n\n", encoding="utf-8")
    assert read_names(file) == ("animal", "person")
    file.write_text("animal\n\nperson\n", encoding="utf-8")
    with pytest.raises(InputError, match="name"):
        read_names(file)
    file.write_text("\n", encoding="utf-8")
    with pytest.raises(InputError, match="one name a line"):
        read_names(file)
