"""Finding the class a person means, and searching while typing."""

import pytest

from engine.errors import AmbiguousClassError, UnknownClassError
from engine.graph.category_graph import CategoryGraph
from engine.graph.class_attributes import ClassAttributes
from tests.support.graphs import graph_of, names_of, seaside_graph

BIRD, GULL, PUFFIN = 2, 4, 5


def many_gulls() -> CategoryGraph:
    """The seaside graph with a second Gull under Diver."""
    graph = seaside_graph()
    graph.add_class("Gull", [3])
    return graph


@pytest.mark.parametrize(
    "text", ["Gull", " Gull ", "Bird/Gull", "Animal/Bird/Gull", "/Animal/Bird/Gull"]
)
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
    assert (
        graph.find("and/or")
        == graph.find("and\\/or")
        == graph.find(graph.path_text(either))
        == either
    )


def test_slips_are_answered_with_close_names() -> None:
    """An unknown name offers what is alike; nothing alike offers how to write it."""
    with pytest.raises(UnknownClassError, match='Did you mean "Puffin"'):
        seaside_graph().find("pufin")
    with pytest.raises(UnknownClassError, match="its path"):
        seaside_graph().find("xylophone")
    with pytest.raises(UnknownClassError, match="Write a class's name"):
        seaside_graph().find(" ")


def test_an_unknown_name_is_answered_in_the_order_of_the_search() -> None:
    """On the command line "elephant" asks about the elephants before Elephantidae."""
    with pytest.raises(
        UnknownClassError, match='mean "Elephant seal" or "African elephant" or "Afr'
    ):
        zoo().find("elephant")
    assert names_of(zoo(), zoo().nearest("Afrcan elephant", 2)) == ["African elephant"]


def zoo() -> CategoryGraph:
    """Names that begin alike and mean something else."""
    graph = graph_of(
        {
            "Elephantidae": [],
            "African elephant": ["Elephantidae"],
            "Elephant seal": [],
            "Woodenware": [],
            "Wooden spoon": [],
            "Spoon, wooden": [],
            "Bat": [],
            "Batfish": [],
            "Fruit bat": [],
            "Acrobat": [],
            "Loxodonta cyclotis": ["Elephantidae"],
            "Combat boot": [],
            "Cheetah": [],
        }
    )
    graph.set_attributes(
        graph.find("Loxodonta cyclotis"), ClassAttributes("bat77", ("African forest elephant@en",))
    )
    graph.set_attributes(graph.find("Cheetah"), ClassAttributes(synonyms=("Hunting leopard",)))
    return graph


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        # what it is called, whole words of that, its beginning, a word's beginning, anywhere;
        # synonyms behind names
        ("elephant", ["Elephant seal", "African elephant", "Loxodonta cyclotis", "Elephantidae"]),
        ("elephantidae", ["Elephantidae"]),
        ("wooden", ["Wooden spoon", "Spoon, wooden", "Woodenware"]),
        ("african ele", ["African elephant"]),
        ("african elephant", ["African elephant"]),
        ("bat", ["Bat", "Fruit bat", "Batfish", "Acrobat", "Combat boot", "Loxodonta cyclotis"]),
        ("BAT77", ["Loxodonta cyclotis"]),
        ("hunt", ["Cheetah"]),
        ("leopard", ["Cheetah"]),
    ],
)
def test_a_whole_word_comes_before_a_longer_word(typed: str, found: list[str]) -> None:
    """The order of all lists of classes: see `NameFit`."""
    assert names_of(zoo(), zoo().search(typed)) == found


def test_offered_classes_come_first_among_equal_fits_only() -> None:
    """Elephantidae, though likely, does not come before a class that is called an elephant."""
    graph = zoo()
    likely = [graph.find("Elephantidae"), graph.find("African elephant")]
    assert names_of(graph, graph.search("elephant", 2, likely)) == [
        "African elephant",
        "Elephant seal",
    ]
    assert names_of(graph, graph.search("ele", 2, likely)) == ["Elephantidae", "Elephant seal"]


def test_search_order() -> None:
    """Whole words, then beginnings of names, then anywhere; short names first."""
    graph = graph_of(
        {"Gull": [], "gulliver": [], "Herring-Gull": [], "Sea_gull": [], "Seagull": [], "Auk": []}
    )
    assert names_of(graph, graph.search("GULL")) == [
        "Gull",
        "Sea_gull",
        "Herring-Gull",
        "gulliver",
        "Seagull",
    ]
    assert names_of(graph, graph.search("gull", limit=1)) == ["Gull"]
    assert names_of(graph, graph.search("gull", limit=3)) == ["Gull", "Sea_gull", "Herring-Gull"]


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
