"""SVG text: well formed for any names, everything inside it, names no wider than cards."""

import re
from collections.abc import Iterator
from xml.etree.ElementTree import Element

import pytest
from defusedxml.ElementTree import fromstring

from engine.graph.category_graph import CategoryGraph
from engine.graph_drawing.layout import Layout, lay_out
from engine.graph_drawing.shown import shown_graph
from engine.graph_drawing.svg import (
    DARK,
    LIGHT,
    SVG_CARD,
    SvgColours,
    dot_text,
    lines_of,
    svg_text,
    text_width,
)
from tests.support.graphs import graph_of

SVG = "{http://www.w3.org/2000/svg}"


def drawn(
    graph: CategoryGraph, opened: frozenset[int] | None = None, colours: SvgColours = LIGHT
) -> Element:
    return fromstring(text_of(graph, opened, colours)[0])


def text_of(
    graph: CategoryGraph, opened: frozenset[int] | None, colours: SvgColours
) -> tuple[str, Layout]:
    shown = shown_graph(graph, frozenset(graph.classes()) if opened is None else opened)
    layout = lay_out(shown, SVG_CARD)
    return svg_text(graph, shown, layout, colours=colours), layout


def test_every_class_has_its_card_and_every_edge_its_line() -> None:
    """A name that would be markup, in scripts of all kinds, is the title as it is."""
    names = {'<b> & "quotes"': [], "鳥類": [], "Ökologie\u0301": ['<b> & "quotes"', "鳥類"]}
    root = drawn(graph_of(names))
    assert {each.text for each in root.iter(f"{SVG}title")} == set(graph_names(names))
    assert len(list(root.iter(f"{SVG}path"))) == 2


def graph_names(names: dict[str, list[str]]) -> Iterator[str]:
    graph = graph_of(names)
    return (graph.name(each) for each in graph.classes())


def test_a_closed_branch_says_what_it_hides() -> None:
    graph = graph_of({"Wind": []} | {f"Flute {number}": ["Wind"] for number in range(1200)})
    assert [each.text for each in drawn(graph, frozenset()).iter(f"{SVG}text")] == [
        "Wind",
        "1,200 classes",
    ]


def test_all_is_inside_the_picture() -> None:
    graph = graph_of({"Fruit": []} | {f"Fruit {number}": ["Fruit"] for number in range(30)})
    root = drawn(graph)
    left, top, width, height = map(float, root.attrib["viewBox"].split())
    cards = [each for each in root.iter(f"{SVG}rect") if each.get("rx")]
    assert len(cards) == 31
    for each in cards:
        x, y, w, h = (float(each.attrib[key]) for key in ("x", "y", "width", "height"))
        assert left < x < x + w < left + width
        assert top < y < y + h < top + height


@pytest.mark.parametrize("colours", [LIGHT, DARK])
def test_names_can_be_read(colours: SvgColours) -> None:
    """At least 4.5 to 1, what accessibility asks of text."""
    for text in (colours.text, colours.text_muted):
        assert contrast(text, colours.card) >= 4.5


def contrast(one: str, other: str) -> float:
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def luminance(colour: str) -> float:
    """Relative luminance as in WCAG 2."""
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    ]
    return sum(share * part for share, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("Apple", ["Apple"]),
        ("Golden delicious apple", ["Golden delicious", "apple"]),
        ("Golden delicious apple of the old kind", ["Golden delicious", "apple of the old…"]),
        ("Pneumonoultramicroscopic", ["Pneumonoultra…"]),
    ],
)
def test_names_break_between_words(name: str, lines: list[str]) -> None:
    assert lines_of(name, 128, 13, 2) == lines
    assert all(text_width(line, 13) <= 128 for line in lines)


def test_marks_are_not_cut_from_their_letter() -> None:
    name = "e\u0323\u0301" * 20
    (line,) = lines_of(name, 128, 13, 1)
    assert line.endswith("\u0301…")


NODE = re.compile(r'^  c(\d+) \[label="((?:[^"\\]|\\.)*)"\];$', re.MULTILINE)
EDGE = re.compile(r"^  c(\d+) -> c(\d+)(?: \[penwidth=([\d.]+), weight=\d+\])?;$", re.MULTILINE)


def test_every_class_and_edge_is_there_once() -> None:
    """Names with quotes and backslashes come back as they were."""
    names = {
        'A "quoted" name': [],
        "back\\slash \\n": [],
        "Ökologie 鳥": ['A "quoted" name', "back\\slash \\n"],
    }
    graph = graph_of(names)
    text = dot_text(graph)
    labels = {int(number): re.sub(r"\\(.)", r"\1", label) for number, label in NODE.findall(text)}
    assert labels == {each: graph.name(each) for each in graph.classes()}
    assert [(int(parent), int(child)) for parent, child, _ in EDGE.findall(text)] == list(
        graph.edges()
    )


def test_weights_widen_edges() -> None:
    graph = graph_of({"Wind": [], "Keyboard": [], "Organ": ["Wind", "Keyboard"]})
    wind, keyboard, organ = graph.classes()
    pens = {
        (int(parent), int(child)): float(pen)
        for parent, child, pen in EDGE.findall(
            dot_text(graph, weights={(wind, organ): 1.0, (keyboard, organ): 0.0})
        )
    }
    assert pens == {(wind, organ): 4.0, (keyboard, organ): 1.0}
