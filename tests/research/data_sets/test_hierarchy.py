"""WordNet above a source's classes."""

from pathlib import Path

import pytest

from engine.errors import FormatError, InputError, StorageError
from research.data_sets.hierarchy import read_hierarchy
from tests.support.small_imagenet import FOLDERS, LEVELS, key


def test_levels_are_shortest_paths(wordnet: Path) -> None:
    """Each class has the level of the small WordNet, though kind11 has a longer path."""
    hierarchy = read_hierarchy(wordnet, [key(name) for name in FOLDERS])
    for level, names in LEVELS.items():
        assert hierarchy.at(level) == tuple(sorted(key(name) for name in names))


def test_only_what_is_above_the_classes_is_kept(wordnet: Path) -> None:
    """The ancestors of a class by all paths, with their first words."""
    hierarchy = read_hierarchy(wordnet, [key("kind0")])
    expected = [
        "berry",
        "hammer",
        "fruit",
        "device",
        "food",
        "tool",
        "substance",
        "fluid",
        "part",
        "matter",
    ]
    assert hierarchy.above(key("kind0")) == {key(name) for name in [*expected, "object", "entity"]}
    assert set(hierarchy.names.values()) == {*expected, "object", "entity", "kind0"}


def test_a_class_that_is_not_in_wordnet_is_refused(wordnet: Path) -> None:
    """The message names the folder."""
    with pytest.raises(InputError, match="n09999999"):
        read_hierarchy(wordnet, [key("kind0"), "n09999999"])


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    """The WordNet file is required."""
    with pytest.raises(StorageError, match=r"wordnet\.is_a\.txt"):
        read_hierarchy(tmp_path / "wordnet.is_a.txt", [key("kind0")])


def test_another_file_is_refused(tmp_path: Path) -> None:
    """The message has the line of a file that is no list of edges."""
    path = tmp_path / "wordnet.is_a.txt"
    path.write_text("a line of prose\n", encoding="utf-8")
    with pytest.raises(FormatError, match="line 1 of"):
        read_hierarchy(path, [key("kind0")])
