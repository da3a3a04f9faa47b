"""Sorting names, natural or by the window's collation, and what does not depend on it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.collation import collate_with, collation, in_order, natural_key
from engine.collection.search.columns import read_files
from engine.files import FoundFile
from engine.graph.category_graph import CategoryGraph
from engine.graph.edits import GraphEdit
from engine.graph.removal import ChildrenOfRemoved
from tests.support.projects import new_project


def swedish(name: str) -> tuple[str, ...]:
    """Å, Ä and Ö after Z."""
    return tuple(name.casefold().translate({ord("å"): "{", ord("ä"): "|", ord("ö"): "}"}))


@pytest.fixture(autouse=True)
def natural_again() -> Iterator[None]:
    """Restore the default order after a test."""
    yield
    collate_with(None)


def test_natural_order() -> None:
    """Numbers sort as numbers, case is ignored."""
    assert sorted(["leaf 10", "Leaf 9", "apple", "Zebra", "2"], key=natural_key) == [
        "2",
        "apple",
        "Leaf 9",
        "leaf 10",
        "Zebra",
    ]


def test_letters_with_accents_stand_beside_those_without() -> None:
    """Not after Z, as by code point."""
    names = ["Zander", "Äsche", "Aal", "Öre", "Otter", "éléphant", "Esel", "Ähre 10", "Ähre 9"]
    expected = ["Aal", "Ähre 9", "Ähre 10", "Äsche", "éléphant", "Esel", "Öre", "Otter", "Zander"]
    assert sorted(names, key=natural_key) == expected


class OnlyLess:
    """A sort key with `<` only, as of a collator."""

    def __init__(self, name: str) -> None:
        self.name = name.casefold()

    def __lt__(self, other: "OnlyLess") -> bool:
        return self.name < other.name


@pytest.mark.parametrize("key", [natural_key, str.casefold, OnlyLess])
def test_the_order_is_total(key: type[OnlyLess]) -> None:
    """Names equal in a language have one order."""
    names = ["ab", "AB", "aB", "b", "Ab"]
    expected = ["AB", "Ab", "aB", "ab", "b"]
    assert in_order(names, str, key) == in_order(names[::-1], str, key) == expected
    assert in_order([(1, "a"), (0, "a")], lambda item: item[1], key) == [(1, "a"), (0, "a")]


def test_classes_follow_another_order_at_once() -> None:
    """Also if their order is cached."""
    graph = CategoryGraph()
    for name in ("Ärta", "Bi", "Zebra", "Ask 10", "Ask 9"):
        graph.add_class(name)

    def names(of: CategoryGraph) -> list[str]:
        return [of.name(each) for each in of.roots()]

    natural, in_swedish = (
        ["Ärta", "Ask 9", "Ask 10", "Bi", "Zebra"],
        ["Ask 10", "Ask 9", "Bi", "Zebra", "Ärta"],
    )
    assert names(graph) == natural
    collate_with(swedish)
    assert collation() is swedish
    assert names(graph) == names(graph.copy()) == in_swedish
    collate_with(None)
    assert names(graph) == natural


def test_edits_are_the_same_in_every_language() -> None:
    """They are stored in the history."""

    def made() -> list[GraphEdit]:
        graph = CategoryGraph()
        top = graph.add_class("Top")
        for name in ("Ärta", "Zebra", "Ask"):
            graph.add_class(name, [top])
        with graph.record() as edits:
            graph.merge(top, graph.add_class("Heir"))
            graph.remove(5, children=ChildrenOfRemoved.REMOVED)
        return [*edits]

    natural = made()
    collate_with(swedish)
    assert made() == natural


def test_images_and_folders_are_in_the_order_of_their_names(tmp_path: Path) -> None:
    """Equal names in different folders by image id."""
    project = new_project(tmp_path)
    names = ("zoo/Älg 10.jpg", "zoo/Älg 9.jpg", "äng/zebra.jpg", "äng/apa.jpg", "zoo/apa.jpg")
    project.images.add([FoundFile(tmp_path / name, 1, 1) for name in names])

    def in_their_order() -> list[str]:
        files = read_files(project)
        return [files.names[place] for place in files.name_rank.argsort()]

    assert in_their_order() == ["Älg 9.jpg", "Älg 10.jpg", "apa.jpg", "apa.jpg", "zebra.jpg"]
    assert [Path(folder).name for folder in read_files(project).folders] == ["äng", "zoo"]
    collate_with(swedish)
    assert in_their_order() == ["apa.jpg", "apa.jpg", "zebra.jpg", "Älg 10.jpg", "Älg 9.jpg"]
    assert [Path(folder).name for folder in read_files(project).folders] == ["zoo", "äng"]
    assert read_files(project).folder_rank.tolist() == [1, 2, 4, 3, 0]
