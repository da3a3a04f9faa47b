"""Source ids and synonyms: what may be one, and what they find."""

from dataclasses import replace

import pytest

from engine.errors import AmbiguousClassError, GraphError, UnknownClassError
from engine.graph.category_graph import CategoryGraph
from engine.graph.class_attributes import NO_ATTRIBUTES, ClassAttributes
from engine.graph.edits import AttributesChanged, ClassAdded, ClassRemoved, inverse
from engine.graph.limits import MOST_SYNONYMS
from tests.support.graphs import names_of, seaside_graph

BIRD, DIVER, GULL, PUFFIN, SEAL = 2, 3, 4, 5, 6
LARUS = ClassAttributes("n02041246", ("Larus", "sea bird"))


def named_graph() -> CategoryGraph:
    """The seaside graph; Gull and Puffin have an id and synonyms, "sea bird" is one of both."""
    graph = seaside_graph()
    graph.set_attributes(GULL, LARUS)
    graph.set_attributes(PUFFIN, ClassAttributes("n02044908", ("Fratercula", "sea bird", "Seal")))
    return graph


def test_they_are_cleaned_as_names_are() -> None:
    """Blanks, repetitions and the class's own name are left out, letters take form NFC."""
    graph = CategoryGraph()
    egret = graph.add_class(
        "Egret",
        attributes=ClassAttributes(" n1 ", (" Aigrette", "", "Egret", "re\u0301gret", "Aigrette")),
    )
    assert graph.attributes(egret) == ClassAttributes("n1", ("Aigrette", "r\u00e9gret"))
    assert not graph.attributes(graph.add_class("Auk", attributes=ClassAttributes("  ")))


@pytest.mark.parametrize(
    ("aliases", "message"),
    [
        (ClassAttributes("n1\n"), None),
        (ClassAttributes("n\n1"), "a source id cannot contain control characters"),
        (ClassAttributes("n" * 1_001), "the source id .* is too long"),
        (ClassAttributes(synonyms=("Larus\x00",)), "a synonym cannot contain control characters"),
        (
            ClassAttributes(synonyms=tuple(map(str, range(MOST_SYNONYMS + 1)))),
            "too many synonyms: expected at most 1,000",
        ),
    ],
)
def test_what_cannot_be_one(aliases: ClassAttributes, message: str | None) -> None:
    """A text that no name could be is refused, and so are thousands; the graph stays as it was."""
    graph = named_graph()
    if message is None:
        graph.set_attributes(GULL, aliases)
        assert graph.attributes(GULL) == ClassAttributes("n1")
        return
    with pytest.raises(GraphError, match=message):
        graph.set_attributes(GULL, aliases)
    assert graph.attributes(GULL) == LARUS


@pytest.mark.parametrize("text", ["n02041246", " Larus ", "Gull", "Bird/Gull"])
def test_id_synonym_name_and_path_find_the_class(text: str) -> None:
    """All of them mean the one class."""
    assert named_graph().find(text) == GULL


def test_a_name_wins_over_a_synonym() -> None:
    """Seal is a class and a synonym of Puffin; it means the class."""
    graph = named_graph()
    assert graph.find("Seal") == SEAL
    graph.rename(SEAL, "Phoca")
    assert graph.find("Seal") == PUFFIN


def test_a_synonym_of_several_classes_is_listed() -> None:
    """As with names, the paths are named."""
    with pytest.raises(
        AmbiguousClassError,
        match=r'"sea bird" fits 2 classes.*"Animal/Bird/Gull", "Animal/Bird/Puffin"',
    ):
        named_graph().find("sea bird")


def test_a_slip_in_a_synonym_is_answered_with_it() -> None:
    """Close synonyms are offered like close names."""
    with pytest.raises(UnknownClassError, match='Did you mean "Fratercula"'):
        named_graph().find("fratercola")


def test_edits_and_their_inverse() -> None:
    """What changed is reported with what was there.

    Taking it back brings the aliases back, also of a removed class.
    """
    graph = named_graph()
    with graph.record() as edits:
        graph.set_attributes(GULL, ClassAttributes("x"))
        graph.set_attributes(GULL, ClassAttributes("x"))
        graph.remove(PUFFIN)
        tern = graph.add_class("Tern", [BIRD], attributes=ClassAttributes("n3"))
    assert edits[0] == AttributesChanged(
        GULL,
        {"source_id": "x", "synonyms": ()},
        {"source_id": LARUS.source_id, "synonyms": LARUS.synonyms},
    )
    assert ClassRemoved(PUFFIN, "Puffin", named_graph().attributes(PUFFIN)) in edits
    assert ClassAdded(tern, "Tern", ClassAttributes("n3")) in edits
    assert sum(isinstance(edit, AttributesChanged) for edit in edits) == 1
    assert graph.find("n3") == tern
    mirror = named_graph()
    mirror.apply(edits)
    assert (mirror.find("x"), mirror.find("n3")) == (GULL, tern)
    graph.apply(inverse(edits))
    assert (graph.find("Larus"), graph.find("n02044908")) == (GULL, PUFFIN)
    with pytest.raises(UnknownClassError):
        graph.find("n3")


def test_a_copy_goes_its_own_way() -> None:
    """Neither graph sees what happens to the other."""
    graph = named_graph()
    twin = graph.copy()
    graph.set_attributes(GULL, NO_ATTRIBUTES)
    assert (twin.find("Larus"), twin.attributes(GULL)) == (GULL, LARUS)
    with pytest.raises(UnknownClassError):
        graph.find("Larus")


def test_search_knows_them() -> None:
    """Names first, a whole id or synonym right after whole names, parts of them last.

    Each class once.
    """
    graph = named_graph()
    assert names_of(graph, graph.search("N0204")) == ["Gull", "Puffin"]
    assert names_of(graph, graph.search("frat")) == ["Puffin"]
    assert names_of(graph, graph.search("seal")) == ["Seal", "Puffin"]
    assert names_of(graph, graph.search("diver/bird")) == ["Puffin"]
    graph.set_attributes(DIVER, ClassAttributes(synonyms=("gull", "gulls")))
    assert names_of(graph, graph.search("gull")) == ["Gull", "Diver", "Herring Gull"]
    assert names_of(graph, graph.search("gull", limit=2)) == ["Gull", "Diver"]
    assert names_of(graph, graph.search("gulls")) == ["Diver"]


def test_which_alias_fits() -> None:
    """The shortest that holds what was typed."""
    assert ClassAttributes("n1", ("Larus canus", "Larus")).name_with(" LAR ") == "Larus"
    assert LARUS.name_with("auk") == ""


def test_ranks_are_found() -> None:
    """After names and synonyms in plain words, and alone after "rank:", also below a class."""
    graph = named_graph()
    for class_id, rank in ((BIRD, "Class"), (GULL, "species"), (SEAL, "species")):
        graph.set_attributes(class_id, replace(graph.attributes(class_id), rank=rank))
    assert names_of(graph, graph.search("rank:spec")) == ["Gull", "Seal"]
    assert names_of(graph, graph.search("bird/rank: species")) == ["Gull"]
    assert names_of(graph, graph.search("CLASS")) == ["Bird"]
    assert graph.search("clas") == []
    graph.set_attributes(DIVER, ClassAttributes(synonyms=("class bird",)))
    assert names_of(graph, graph.search("class")) == ["Diver", "Bird"]
    with pytest.raises(UnknownClassError):
        graph.find("species")


def test_a_source_changes_what_nobody_changed() -> None:
    """Its new rank is taken over, unless a person gave another one; what it says no more stays."""
    was, now = ClassAttributes("n1", rank="species"), ClassAttributes("n1", rank="subspecies")
    assert was.updated(was, now) == now
    assert ClassAttributes("n1", rank="race").updated(was, now) == ClassAttributes(
        "n1", rank="race"
    )
    assert was.updated(was, ClassAttributes("n1")) == was
    assert ClassAttributes("n1").filled_in(now) == now
