"""DOT text, read back by a small reader of our own: names, edges, and what must be escaped."""

import re

from engine.graph_drawing.shown import shown_graph
from engine.graph_drawing.svg import dot_text
from tests.support.graphs import graph_of

NODE = re.compile(r'^  c(\d+) \[label="((?:[^"\\]|\\.)*)"\];$', re.MULTILINE)
EDGE = re.compile(r"^  c(\d+) -> c(\d+)(?: \[penwidth=([\d.]+), weight=\d+\])?;$", re.MULTILINE)


def test_every_class_and_edge_is_there_once() -> None:
    """Names with quotes and backslashes come back as they were."""
    names = {'A "quoted" name': [], "back\\slash \\n": [], "Ökologie 鳥": ['A "quoted" name', "back\\slash \\n"]}
    graph = graph_of(names)
    text = dot_text(graph)
    labels = {int(number): re.sub(r"\\(.)", r"\1", label) for number, label in NODE.findall(text)}
    assert labels == {each: graph.name(each) for each in graph.classes()}
    assert [(int(parent), int(child)) for parent, child, _ in EDGE.findall(text)] == list(graph.edges())


def test_weights_widen_edges() -> None:
    graph = graph_of({"Wind": [], "Keyboard": [], "Organ": ["Wind", "Keyboard"]})
    wind, keyboard, organ = graph.classes()
    pens = {
        (int(parent), int(child)): float(pen)
        for parent, child, pen in EDGE.findall(dot_text(graph, weights={(wind, organ): 1.0, (keyboard, organ): 0.0}))
    }
    assert pens == {(wind, organ): 4.0, (keyboard, organ): 1.0}


def test_a_part_of_a_graph() -> None:
    """A closed branch says how much it hides."""
    graph = graph_of({"Wind": []} | {f"Flute {number}": ["Wind"] for number in range(1200)})
    text = dot_text(graph, shown=shown_graph(graph, frozenset()))
    assert NODE.findall(text) == [("1", "Wind\\n+ 1,200")]
    assert EDGE.findall(text) == []
