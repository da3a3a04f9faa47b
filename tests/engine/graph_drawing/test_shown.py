"""What is drawn of a graph: open branches, closed ones with counts, and neighbourhoods."""

import pytest

from engine.errors import UnknownClassError
from engine.graph.category_graph import CategoryGraph
from engine.graph_drawing.shown import ShownGraph, first_opened, opened_to, shown_graph
from tests.support.graphs import graph_of

INSTRUMENTS = {
    "Instrument": [],
    "Keyboard": ["Instrument"],
    "Wind": ["Instrument"],
    "Piano": ["Keyboard"],
    "Organ": ["Keyboard", "Wind"],
    "Pipe organ": ["Organ"],
    "Flute": ["Wind"],
    "Tool": [],
    "Hammer": ["Tool"],
}


@pytest.fixture
def graph() -> CategoryGraph:
    return graph_of(INSTRUMENTS)


def ids(graph: CategoryGraph, *names: str) -> frozenset[int]:
    return frozenset(graph.find(name) for name in names)


def names(graph: CategoryGraph, shown: ShownGraph) -> list[str]:
    return [graph.name(each.class_id) for each in shown.classes]


def hidden(graph: CategoryGraph, shown: ShownGraph) -> dict[str, int]:
    return {graph.name(each.class_id): each.hidden for each in shown.classes if each.hidden}


def test_closed_roots_hide_all_below(graph: CategoryGraph) -> None:
    """Each class below is counted once, however many ways lead there."""
    shown = shown_graph(graph, frozenset())
    assert (names(graph, shown), shown.edges) == (["Instrument", "Tool"], ())
    assert hidden(graph, shown) == {"Instrument": 6, "Tool": 1}


def test_open_branches_show_their_children(graph: CategoryGraph) -> None:
    """In the order of the tree; an edge from a closed class to a drawn one is drawn as well."""
    shown = shown_graph(graph, ids(graph, "Instrument", "Keyboard", "Hammer"))
    assert names(graph, shown) == ["Instrument", "Keyboard", "Organ", "Piano", "Wind", "Tool"]
    assert hidden(graph, shown) == {"Organ": 1, "Wind": 2, "Tool": 1}
    drawn = {(graph.name(parent), graph.name(child)) for parent, child in shown.edges}
    assert drawn == {
        ("Instrument", "Keyboard"),
        ("Instrument", "Wind"),
        ("Keyboard", "Piano"),
        ("Keyboard", "Organ"),
        ("Wind", "Organ"),
    }


def test_an_open_branch_inside_a_closed_one_is_not_drawn(graph: CategoryGraph) -> None:
    """It opens as it was when what lies above is opened again.

    Ids of classes that are gone do no harm.
    """
    opened = ids(graph, "Organ", "Tool") | {999}
    assert names(graph, shown_graph(graph, opened)) == ["Instrument", "Tool", "Hammer"]


def test_everything_open_hides_nothing(graph: CategoryGraph) -> None:
    shown = shown_graph(graph, frozenset(graph.classes()))
    assert sorted(each.class_id for each in shown.classes) == list(graph.classes())
    assert sorted(shown.edges) == sorted(graph.edges())
    assert not hidden(graph, shown)


def test_the_neighbourhood_of_a_class(graph: CategoryGraph) -> None:
    """All within so many edges, siblings where their parent is open, with distance."""
    organ = graph.find("Organ")
    shown = shown_graph(graph, ids(graph, "Wind"), focus=organ)
    distances = {graph.name(each.class_id): each.distance for each in shown.classes}
    assert distances == {
        "Organ": 0,
        "Pipe organ": 1,
        "Keyboard": 1,
        "Wind": 1,
        "Instrument": 2,
        "Flute": 2,
    }
    assert hidden(graph, shown) == {"Keyboard": 1}


def test_a_class_in_focus_must_exist(graph: CategoryGraph) -> None:
    with pytest.raises(UnknownClassError):
        shown_graph(graph, frozenset(), focus=999)


def test_at_first_branches_open_while_they_fit(graph: CategoryGraph) -> None:
    """Two roots, three classes below them, three below those, one below that.

    Of a level the small branches first.
    """
    assert first_opened(graph, 2) == frozenset()
    assert first_opened(graph, 4) == ids(graph, "Tool")
    assert first_opened(graph, 5) == ids(graph, "Instrument", "Tool")
    assert first_opened(graph, 7) == first_opened(graph, 5) | ids(graph, "Keyboard")
    assert first_opened(graph, fits=lambda opened: len(opened) < 2) == ids(graph, "Tool")
    assert first_opened(graph, 8) == first_opened(graph, 5) | ids(graph, "Keyboard", "Wind")
    assert first_opened(graph) == first_opened(graph, 8) | ids(graph, "Organ")


def test_a_lone_root_is_open_from_the_start() -> None:
    graph = graph_of({"All": []} | {f"Class {number}": ["All"] for number in range(20)})
    assert first_opened(graph, 10) == ids(graph, "All")
    assert first_opened(CategoryGraph()) == frozenset()


def test_a_class_is_opened_to_on_the_way_that_opens_least(graph: CategoryGraph) -> None:
    """A way through branches that are open already is taken even where it is not the first."""
    pipe_organ = graph.find("Pipe organ")
    assert opened_to(graph, frozenset(), pipe_organ) == ids(
        graph, "Instrument", "Keyboard", "Organ"
    )
    half_open = ids(graph, "Wind", "Tool")
    assert opened_to(graph, half_open, pipe_organ) == half_open | ids(graph, "Instrument", "Organ")
    assert opened_to(graph, frozenset(), graph.find("Tool")) == frozenset()
    with pytest.raises(UnknownClassError):
        opened_to(graph, frozenset(), 999)
