"""Finding the class a person means, and searching while typing."""

import pytest

from engine.errors import AmbiguousClassError, UnknownClassError
from engine.graph.category_graph import CategoryGraph
from tests.support.graphs import graph_of, names_of, seaside_graph

BIRD, GULL, PUFFIN = 2, 4, 5


def many_gulls() -> CategoryGraph:
    """The seaside graph with a second Gull under Diver."""
    graph = seaside_graph()
    graph.add_class("Gull", [3])
    return graph


@pytest.mark.parametrize("text", ["Gull", " Gull ", "Bird/Gull", "Animal/Bird/Gull", "/Animal/Bird/Gull"])
def test_names_paths_and_ends_of_paths(text: str) -> None:
    """All ways to say it find the one class."""
    assert seaside_graph().find(text) == GULL


def test_any_path_of_a_class_will_do() -> None:
    """A class with two parents is found under each."""
    graph = seaside_graph()
    assert graph.find("Diver/Puffin") == graph.find("Bird/Puffin") == PUFFIN


def test_several_classes_are_listed() -> None:
    """A name that fits two classes asks for the path and says which there are."""
    with pytest.raises(AmbiguousClassError, match='found "Animal/Bird/Gull", "Animal/Diver/Gull"'):
        many_gulls().find("Gull")
    assert many_gulls().find("Bird/Gull") == GULL


def test_a_whole_path_comes_first() -> None:
    """A root's name finds the root though another class has it too; so each class can be named."""
    graph = graph_of({"Other": [], "Animal": []})
    inner = graph.add_class("Other", [2])
    assert graph.find("Other") == 1
    assert graph.find("Animal/Other") == inner


def test_slashes_inside_names() -> None:
    """A name with a slash is found as it is and in its escaped form."""
    graph = seaside_graph()
    either = graph.add_class("and/or", [BIRD])
    assert graph.find("and/or") == graph.find("and\\/or") == graph.find(graph.path_text(either)) == either


def test_slips_are_answered_with_close_names() -> None:
    """An unknown name offers what is alike; nothing alike offers how to write it."""
    with pytest.raises(UnknownClassError, match='Did you mean "Puffin"'):
        seaside_graph().find("pufin")
    with pytest.raises(UnknownClassError, match="its path"):
        seaside_graph().find("xylophone")
    with pytest.raises(UnknownClassError, match="Write a class's name"):
        seaside_graph().find(" ")


def test_search_order() -> None:
    """Beginnings of names, then of words, then anywhere; short names first."""
    graph = graph_of({"Gull": [], "gulliver": [], "Herring-Gull": [], "Sea_gull": [], "Seagull": [], "Auk": []})
    assert names_of(graph, graph.search("GULL")) == ["Gull", "gulliver", "Sea_gull", "Herring-Gull", "Seagull"]
    assert names_of(graph, graph.search("gull", limit=1)) == ["Gull"]
    assert names_of(graph, graph.search("gull", limit=3)) == ["Gull", "gulliver", "Sea_gull"]


def test_search_within_a_branch() -> None:
    """Earlier parts of a path are looked for among the ancestors."""
    graph = many_gulls()
    assert names_of(graph, graph.search("bird/gu")) == ["Gull", "Herring Gull"]
    assert graph.search("bird/gu") == [GULL, 7]


@pytest.mark.parametrize("text", ["", "  ", "/", "zzz", "plant/gull"])
def test_search_for_nothing(text: str) -> None:
    """No text and no fit give no classes."""
    assert seaside_graph().search(text) == []


def test_search_follows_edits() -> None:
    """A renamed class is found by its new name only, a removed one not at all."""
    graph = seaside_graph()
    graph.rename(PUFFIN, "Auk")
    graph.remove(GULL)
    assert graph.search("puf") == []
    assert graph.search("auk") == [PUFFIN]
    assert names_of(graph, graph.search("gull")) == ["Herring Gull"]
