"""GraphML of our own and of other programs."""

from pathlib import Path

import networkx as nx
import pytest

from engine.errors import FormatError
from engine.graph.class_attributes import ClassAttributes
from engine.interchange.detect import read_graph
from engine.interchange.imported import ImportedClass, ImportedGraph
from engine.interchange.taxonomies import graphml
from tests.support.taxonomies import expected_facts, facts_of, made_terms

HEAD = (
    '<graphml xmlns="http://graphml.graphdrawing.org/xmlns" '
    'xmlns:y="http://www.yworks.com/xml/graphml">'
)
YED = f"""<?xml version="1.0" encoding="UTF-8" standalone="no"?>
<!-- drawn by hand -->
{HEAD}
  <key for="node" id="d5" attr.name="description" attr.type="string"/>
  <key for="node" id="d6" yfiles.type="nodegraphics"/>
  <graph edgedefault="directed" id="G">
    <node id="n0"><data key="d6"><y:ShapeNode><y:NodeLabel>Bird</y:NodeLabel></y:ShapeNode></data>\
</node>
    <node id="n1"><data key="d5">By the sea.</data><data key="d6"><y:ShapeNode><y:NodeLabel>Gull
    </y:NodeLabel></y:ShapeNode></data></node>
    <node id="n2"/>
    <edge id="e0" source="n0" target="n1"/>
    <edge id="e1" source="n0" target="n2"/>
  </graph>
</graphml>
"""


def written(folder: Path, text: str | bytes) -> Path:
    """A file with this text."""
    path = folder / "birds.graphml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_a_drawing_of_yed(tmp_path: Path) -> None:
    """What is written on a node is its name; its id where nothing is."""
    graph = read_graph(written(tmp_path, YED))
    assert [(each.key, each.name, each.attributes.note) for each in graph.classes] == [
        ("n0", "Bird", ""),
        ("n1", "Gull", "By the sea."),
        ("n2", "n2", ""),
    ]
    assert graph.edges == (("n0", "n1"), ("n0", "n2"))


@pytest.mark.slow
@pytest.mark.parametrize("leads_up", [False, True])
def test_some_thousand_nodes_of_networkx(tmp_path: Path, leads_up: bool) -> None:
    """In whichever direction its edges lead."""
    terms = made_terms(1_500)
    drawn: nx.DiGraph[str] = nx.DiGraph()
    for each in terms:
        drawn.add_node(
            f"t{each.number}",
            name=each.name,
            synonyms=each.synonym,
            source_id=f"T{each.number}",
            note=each.note,
        )
    for each in terms:
        for parent in each.parents:
            ends = f"t{parent}", f"t{each.number}"
            drawn.add_edge(*(reversed(ends) if leads_up else ends))
    nx.write_graphml(drawn, tmp_path / "made.graphml")
    assert facts_of(read_graph(tmp_path / "made.graphml")) == expected_facts(terms, "T{}")


def test_edges_that_say_how_they_lead(tmp_path: Path) -> None:
    """The relation "is a" leads to the parent, also with as many roots as leaves."""
    key = '<key id="r" for="edge" attr.name="relation" attr.type="string"/>'
    text = YED.replace("<graph ", key + "<graph ").replace(
        'target="n1"/>', 'target="n1"><data key="r">is_a</data></edge>'
    )
    text = text.replace('    <edge id="e1" source="n0" target="n2"/>\n', "")
    assert read_graph(written(tmp_path, text)).edges == (("n1", "n0"),)


def test_our_own_comes_back(tmp_path: Path) -> None:
    """More roots than leaves, every field, and characters that XML forbids."""
    graph = ImportedGraph(
        (
            ImportedClass(
                "1",
                '<Gull> & "auk"',
                ClassAttributes("n 1", ('a "quoted"', "[b]"), "two\nlines", "#a0b1c2"),
            ),
            ImportedClass("2", "Roc 海鸥", ClassAttributes("[2]")),
            ImportedClass("3", "shared", ClassAttributes(synonyms=("[only one]",))),
        ),
        (("1", "3"), ("2", "3")),
    )
    path = written(tmp_path, graphml.to_graphml(graph))
    again = graphml.read(path)
    classes = [(each.name, each.attributes) for each in again.classes]
    assert classes == [(each.name, each.attributes) for each in graph.classes]
    assert again.edges == (("c1", "c3"), ("c2", "c3"))
    assert sorted(nx.read_graphml(path).edges) == [("c1", "c3"), ("c2", "c3")]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            'edgedefault="directed"',
            'edgedefault="undirected"',
            "birds.graphml has edges without a direction",
        ),
        (
            'id="e1"',
            'id="e1" directed="false"',
            "line 12 of birds.graphml has edges without a direction",
        ),
        (
            'target="n2"',
            'target="n9"',
            'line 12 of birds.graphml has an edge to "n9", which is not a node there',
        ),
        (
            '<node id="n2"/>',
            '<node id="n1"/>',
            "line 10 of birds.graphml has the same id as an earlier node: found n1",
        ),
        ('<node id="n2"/>', "<node/>", "line 10 of birds.graphml has a node without an id"),
        ('<node id="n2"/>', '<node id="n2"><graph/></node>', "line 10 .* a graph within a node"),
        (
            'source="n0" target="n2"',
            'source="n1" target="n0"',
            "its own ancestor: found (Bird|Gull) > ",
        ),
        ("</graphml>", "", "not well-formed XML"),
        (
            "<!-- drawn",
            '<!DOCTYPE graphml [<!ENTITY a "aa">]><!-- drawn',
            "declares a document type",
        ),
        ("Bird<", "\u202eBird<", "line 7 of birds.graphml: .*direction"),
        ("<graph ", "<hull ", "not well-formed XML"),
    ],
)
def test_broken_files(tmp_path: Path, old: str, new: str, message: str) -> None:
    """Each is reported with the line that has to be corrected."""
    text = YED.replace(old, new, 1)
    assert text != YED
    with pytest.raises(FormatError, match=message):
        graphml.read(written(tmp_path, text))


def test_what_is_no_graphml(tmp_path: Path) -> None:
    """Other XML, and GraphML without a graph."""
    for text in ("<html/>", f"{HEAD}</graphml>"):
        with pytest.raises(FormatError, match="is not GraphML"):
            graphml.read(written(tmp_path, text))
