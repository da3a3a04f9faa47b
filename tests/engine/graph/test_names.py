"""Names and paths as text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import GraphError
from engine.graph.names import clean_name, join_path, split_path


def test_names_are_composed_and_stripped() -> None:
    """Two ways to write one letter give one name; blanks around it go."""
    assert clean_name("  Pa\u0301jaro\u00a0 ") == "P\u00e1jaro"


@pytest.mark.parametrize(
    "name",
    [
        *(
            "海鸥",
            "نورس",
            "👩\u200d🌾 farmer",
            "نور\u200cس",
            "x" * 255,
            "a/b\\c",
            "क्\u200dष",
            "กี่",
            "q\u0323\u0301",
        ),
        "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",  # flag of England
        "❤\ufe0f",
        "\u200fשלג",
        "unknown",
        "=1+1",
        "_",
    ],
)
def test_names_in_any_script_are_kept(name: str) -> None:
    """Scripts, emoji with joiners and 255 characters are fine."""
    assert clean_name(name) == name


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("", "needs a name"),
        (" \t\n", "needs a name"),
        ("x" * 256, "too long"),
        ("a\nb", "control characters"),
        ("a\x00b", "control characters"),
        ("a\u2028b", "control characters"),
        ("\udc80", "control characters"),
        ("Gull\ufffe", "control characters"),
        *(
            (f"{mark}lluG", "override the writing direction")
            for mark in "\u202a\u202b\u202d\u202e\u2066\u2067\u2068"
        ),
        *((f"Gull{mark}", "override the writing direction") for mark in "\u202c\u2069"),
        ("\u200b", "can be seen"),
        ("\u2060\u200d \ufeff", "can be seen"),
        ("\u3164\u2800", "can be seen"),
        ("\u0301\u0323", "can be seen"),
        ("\u00ad\ufe0f", "can be seen"),
    ],
)
def test_what_cannot_be_a_name_is_refused(name: str, message: str) -> None:
    """Empty, too long, or with characters that no one sees: refused, saying why."""
    with pytest.raises(GraphError, match=message):
        clean_name(name)


def test_a_name_of_megabytes_is_refused_at_once() -> None:
    """Putting marks in order takes time that grows with the square of their number.

    Hours for this one.
    """
    with pytest.raises(GraphError, match="found 2,000,001"):
        clean_name("a" + "\u0301" * 1_000_000 + "\u0323" * 1_000_000)


def test_the_longest_names_count_as_they_are_kept() -> None:
    """Letters that come in parts count once they are put together.

    255 of four parts each are fine.
    """
    assert (
        clean_name("\u1f82" * 255) == clean_name("\u03b1\u0313\u0300\u0345" * 255) == "\u1f82" * 255
    )


@pytest.mark.slow
@given(st.lists(st.text("ab/\\", min_size=1), min_size=1))
def test_a_path_comes_back_as_its_names(names: list[str]) -> None:
    """Whatever slashes and backslashes names hold, a path can be taken apart again."""
    assert list(split_path(join_path(names))) == names


def test_paths_as_people_write_them() -> None:
    """A leading or doubled slash, blanks and a lone backslash do no harm."""
    assert split_path("/Animal//Bird / Gull/") == ("Animal", "Bird", "Gull")
    assert split_path("A\\B") == ("A\\B",)
