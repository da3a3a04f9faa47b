"""Names and paths as text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import GraphError
from engine.graph.names import clean_name, join_path, natural_key, split_path


def test_names_are_composed_and_stripped() -> None:
    """Two ways to write one letter give one name; blanks around it go."""
    assert clean_name("  Pa\u0301jaro\u00a0 ") == "P\u00e1jaro"


@pytest.mark.parametrize("name", ["海鸥", "نورس", "👩\u200d🌾 farmer", "نور\u200cس", "x" * 255, "a/b\\c"])
def test_names_in_any_script_are_kept(name: str) -> None:
    """Scripts, emoji with joiners and 255 characters are fine."""
    assert clean_name(name) == name


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("", "needs a name"),
        (" \t\n", "needs a name"),
        ("x" * 256, "too long"),
        ("a\nb", "control characters"),
        ("a\x00b", "control characters"),
        ("a\u2028b", "control characters"),
        ("\udc80", "control characters"),
    ],
)
def test_what_cannot_be_a_name_is_refused(name: str, said: str) -> None:
    """Empty, too long, or with characters that no one sees: refused, saying why."""
    with pytest.raises(GraphError, match=said):
        clean_name(name)


def test_natural_order() -> None:
    """Numbers count as numbers and case does not matter."""
    assert sorted(["leaf 10", "Leaf 9", "apple", "Zebra", "2"], key=natural_key) == [
        "2",
        "apple",
        "Leaf 9",
        "leaf 10",
        "Zebra",
    ]


@given(st.lists(st.text("ab/\\", min_size=1), min_size=1))
def test_a_path_comes_back_as_its_names(names: list[str]) -> None:
    """Whatever slashes and backslashes names hold, a path can be taken apart again."""
    assert list(split_path(join_path(names))) == names


def test_paths_as_people_write_them() -> None:
    """A leading or doubled slash, blanks and a lone backslash do no harm."""
    assert split_path("/Animal//Bird / Gull/") == ("Animal", "Bird", "Gull")
    assert split_path("A\\B") == ("A\\B",)
