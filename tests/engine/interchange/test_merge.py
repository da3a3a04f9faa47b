"""Imports meeting a graph that is already there."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import CycleError
from engine.graph.category_graph import CategoryGraph
from engine.graph.class_attributes import ClassAttributes
from engine.interchange.imported import ImportedClass, ImportedGraph
from engine.interchange.versions.plan import merge_into
from tests.support.graphs import big_graph, content_of, graph_of, names_of, seaside_graph, shape_of


def imported_of(*edges: tuple[str, str]) -> ImportedGraph:
    """An import whose keys are the names; an edge from "" is a root."""
    names = dict.fromkeys(name for edge in edges for name in edge if name)
    return ImportedGraph(
        tuple(ImportedClass(name, name) for name in names), tuple(edge for edge in edges if edge[0])
    )


def as_imported(graph: CategoryGraph) -> ImportedGraph:
    """The same graph as an import, with ids for keys."""
    classes = tuple(ImportedClass(str(each), graph.name(each)) for each in graph.classes())
    return ImportedGraph(
        classes, tuple((str(parent), str(child)) for parent, child in graph.edges())
    )


def merged(graph: CategoryGraph, imported: ImportedGraph) -> tuple[dict[str, int], int, int]:
    """Merge; the class by key, and the numbers of new classes and edges."""
    classes, edges = len(graph), graph.edge_count
    ids = merge_into(graph, imported)
    return ids, len(graph) - classes, graph.edge_count - edges


def test_into_an_empty_graph() -> None:
    """All classes and edges are new, and each key knows its class."""
    graph = CategoryGraph()
    ids, *added = merged(graph, as_imported(seaside_graph()))
    assert added == [9, 8]
    assert shape_of(graph) == shape_of(seaside_graph())
    assert graph.name(ids["5"]) == "Puffin"


def test_importing_twice_adds_nothing() -> None:
    """The second time every path is there."""
    graph = big_graph(2000)
    before = content_of(graph)
    ids, *added = merged(graph, as_imported(graph))
    assert added == [0, 0]
    assert all(int(key) == class_id for key, class_id in ids.items())
    assert content_of(graph) == before


def test_new_branches_grow_on_known_classes() -> None:
    """A class of the same path is the same class; of another path it is a new one."""
    graph = seaside_graph()
    _, *added = merged(
        graph, imported_of(("Animal", "Bird"), ("Bird", "Tern"), ("Plant", "Bird"), ("", "Gull"))
    )
    assert added == [2, 2]
    assert graph.parents(graph.find("Tern")) == (2,)
    assert names_of(graph, graph.parents(2)) == ["Animal", "Plant"]
    assert "Gull" in names_of(graph, graph.roots())


def test_parents_may_come_after_their_children() -> None:
    """The order of the rows does not matter."""
    graph = CategoryGraph()
    merge_into(graph, imported_of(("Gull", "Herring Gull"), ("Bird", "Gull"), ("Animal", "Bird")))
    assert graph.path_text(graph.find("Herring Gull")) == "Animal/Bird/Gull/Herring Gull"


def test_two_known_classes_for_one() -> None:
    """If both parents have a class of that name, both stay; the first gets the children."""
    graph = seaside_graph()
    other = graph.add_class("Gull", [3])
    ids, *added = merged(
        graph,
        imported_of(("Animal", "Bird"), ("Animal", "Diver"), ("Bird", "Gull"), ("Diver", "Gull")),
    )
    assert (*added, ids["Gull"]) == (0, 0, 4)
    assert graph.parents(other) == (3,)


def test_a_cycle_in_the_import_leaves_the_graph_alone() -> None:
    """A cycle among the imported edges is refused with its names."""
    graph = seaside_graph()
    with pytest.raises(CycleError) as caught:
        merge_into(graph, imported_of(("Plant", "Moss"), ("Tern", "Weed"), ("Weed", "Tern")))
    assert set(caught.value.path) == {"Weed", "Tern"}
    assert content_of(graph) == content_of(seaside_graph())


def test_a_cycle_with_the_graph_leaves_it_alone() -> None:
    """Edges that close a cycle only with the graph are refused, and all is rolled back."""
    graph = graph_of({"Life": [], "Bird": ["Life"], "Diver": ["Life", "Bird"]})
    before = content_of(graph)
    with pytest.raises(CycleError):
        merge_into(
            graph,
            imported_of(("Life", "Moss"), ("Life", "Bird"), ("Life", "Diver"), ("Diver", "Bird")),
        )
    assert content_of(graph) == before


@pytest.mark.slow
@settings(deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 9), st.integers(0, 9)).filter(lambda pair: pair[0] < pair[1]),
        min_size=1,
    )
)
def test_any_import_is_complete_and_repeatable(pairs: list[tuple[int, int]]) -> None:
    """Imported edges connect the classes of their keys; a second import adds nothing."""
    imported = imported_of(*dict.fromkeys((str(parent), str(child)) for parent, child in pairs))
    graph = CategoryGraph()
    first, _, edges_added = merged(graph, imported)
    assert edges_added == len(imported.edges)
    for parent, child in imported.edges:
        assert first[parent] in graph.parents(first[child])
    assert merged(graph, imported) == (first, 0, 0)


def test_known_classes_take_over_what_they_lack() -> None:
    """An id only where there is none, synonyms that are new; a second import changes nothing."""
    graph = seaside_graph()
    gull, puffin = graph.find("Gull"), graph.find("Puffin")
    graph.set_attributes(puffin, ClassAttributes("mine", ("Fratercula",)))
    imported = ImportedGraph(
        (
            ImportedClass("a", "Animal"),
            ImportedClass("b", "Bird", ClassAttributes("n1")),
            ImportedClass("g", "Gull", ClassAttributes("n2", ("Larus",))),
            ImportedClass("p", "Puffin", ClassAttributes("n3", ("Fratercula", "sea parrot"))),
            ImportedClass("t", "Tern", ClassAttributes("n4", ("Sterna",))),
        ),
        (("a", "b"), ("b", "g"), ("b", "p"), ("b", "t")),
    )
    _, *added = merged(graph, imported)
    assert added == [1, 1]
    assert graph.attributes(gull) == ClassAttributes("n2", ("Larus",))
    assert graph.attributes(puffin) == ClassAttributes("mine", ("Fratercula", "sea parrot"))
    assert graph.attributes(graph.find("Sterna")) == ClassAttributes("n4", ("Sterna",))
    with graph.record() as edits:
        merge_into(graph, imported)
    assert edits == []
