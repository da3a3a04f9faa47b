"""Names of files in exported folders are unique and valid on all systems."""

import pytest

from engine.interchange.labelled_images.class_folders import FreeNames, safe_name


def test_each_name_is_given_once() -> None:
    names = FreeNames()
    asked = [
        ("a", "gull.jpg"),
        ("a", "GULL.jpg"),
        ("b", "gull.jpg"),
        ("a", "gull (3).jpg"),
        ("a", "gull.jpg"),
    ]
    assert [names.take(*each) for each in asked] == [
        "a/gull.jpg",
        "a/GULL (2).jpg",
        "b/gull.jpg",
        "a/gull (3).jpg",
        "a/gull (4).jpg",
    ]


def test_a_stem_is_given_once() -> None:
    names = FreeNames(are_stems_free=True)
    assert [names.take("", name) for name in ("gull.jpg", "Gull.png", "gull.jpg")] == [
        "gull.jpg",
        "Gull (2).png",
        "gull (3).jpg",
    ]


def test_many_of_one_name() -> None:
    """Numbering takes linear time: 20,000 images of one name are fast."""
    names = FreeNames()
    assert len({names.take("a", "image.jpg") for _ in range(20_000)}) == 20_000


@pytest.mark.parametrize(
    ("name", "safe"),
    [
        ("a/b:c?.jpg", "a_b_c_.jpg"),
        ("con.jpg", "_con.jpg"),
        ("x. ", "x"),
        ("...", "_"),
        ("a\nb", "a_b"),
        ("gull", "gull"),
        ("..", "_"),
        (".hidden", "_.hidden"),
        ("nul .txt", "_nul .txt"),
        ("com¹", "_com¹"),
        ("x" * 199 + " yz", "x" * 199),
    ],
)
def test_safe_names(name: str, safe: str) -> None:
    assert safe_name(name) == safe
