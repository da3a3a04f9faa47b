"""Any graph survives every format; a damaged file is read, or refused with a clear error."""

import random
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.errors import FormatError, GraphError
from engine.graph.category_graph import CategoryGraph
from engine.graph.class_attributes import ClassAttributes
from engine.graph.language_tags import split_language, with_language
from engine.graph.names import clean_name
from engine.interchange import csv_edges, json_tree
from engine.interchange.detect import FORMATS, read_graph
from engine.interchange.imported import ImportedClass, ImportedGraph, exported_graph
from engine.interchange.taxonomies import checklist_archive, graphml, skos
from tests.engine.interchange.test_detect import make

EXAMPLES = 12
"""Graphs of each format; thousands were tried when the formats were made."""
DAMAGES = 25
"""Damaged files of each format, likewise."""

WRITERS: dict[str, Callable[[ImportedGraph], str | bytes]] = {
    "json": json_tree.to_json,
    "csv": csv_edges.to_csv,
    "graphml": graphml.to_graphml,
    "skos": skos.to_turtle,
    "darwin-core": partial(checklist_archive.to_archive, about="test"),
}


def is_name(text: str) -> bool:
    """Whether it can be a class name as it is."""
    try:
        return clean_name(text) == text
    except GraphError:
        return False


names = st.text(min_size=1, max_size=12).filter(is_name)
signs = st.sampled_from(
    [
        "a|b",
        "a\\",
        '"',
        "=1",
        "'=1",
        "<a>",
        "#",
        "[x]",
        "urn:x:1",
        "https://a.example/b c",
        "-",
        "'",
    ]
)
texts = names | signs
notes = st.just("") | texts | st.tuples(texts, texts).map("\n".join)
tagged = st.tuples(texts, st.sampled_from(["de", "en", "pt-BR", "zh-Hans"])).map(
    lambda pair: with_language(*pair)
)
colours = st.sampled_from(["", "#000000", "#a0b1c2"])


@st.composite
def graphs(draw: st.DrawFn) -> ImportedGraph:
    """A graph with up to eight classes, as writers get it."""
    graph = CategoryGraph()
    for _ in range(draw(st.integers(1, 8))):
        above = (
            draw(st.lists(st.sampled_from(graph.classes()), max_size=3, unique=True))
            if len(graph)
            else []
        )
        name = draw(texts)
        if any(graph.child_named(parent, name) is not None for parent in above or (None,)):
            continue
        synonyms = tuple(draw(st.lists(texts | tagged, max_size=4, unique=True)))
        attributes = ClassAttributes(
            draw(st.just("") | texts),
            synonyms,
            draw(notes),
            draw(colours),
            rank=draw(st.just("") | texts),
        )
        graph.add_class(name, above, attributes=attributes)
    return exported_graph(graph)


@pytest.mark.slow
@pytest.mark.parametrize("name", WRITERS)
@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
@given(graph=graphs())
def test_every_graph_comes_back(name: str, tmp_path: Path, graph: ImportedGraph) -> None:
    """Any names, attributes and edges; the format is detected by the content."""
    text = WRITERS[name](graph)
    path = tmp_path / "classes"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    again = read_graph(path)
    assert sorted(map(repr, rows_by_path(again))) == sorted(map(repr, rows_by_path(graph)))


def rows_by_path(graph: ImportedGraph) -> list[tuple[object, ...]]:
    """Facts of each class with those of its ancestors, independent of the order of classes.

    Nor does that of synonyms in different languages; which is the first of a language does.
    """
    facts = {
        each.key: (each.name, replace(each.attributes, synonyms=by_language(each)))
        for each in graph.classes
    }
    parents = graph.parent_keys

    def above(key: str) -> tuple[object, ...]:
        return (facts[key], tuple(sorted((above(parent) for parent in parents[key]), key=repr)))

    return [above(key) for key in facts]


def by_language(each: ImportedClass) -> tuple[str, ...]:
    """Its synonyms, those without a language first."""
    return tuple(sorted(each.attributes.synonyms, key=lambda synonym: split_language(synonym)[1]))


@pytest.mark.parametrize("name", sorted(set(FORMATS) - {"folders"}))
def test_damaged_files(name: str, tmp_path: Path) -> None:
    """Truncated, changed, doubled or missing bytes: read, or refused with a clear error."""
    dice = random.Random(name)
    source = make(tmp_path, name)
    whole = source.read_bytes()
    for _ in range(DAMAGES):
        source.write_bytes(damaged(whole, dice))
        for form in (name, "auto"):
            with suppress(FormatError):
                read_graph(source, form)


def damaged(content: bytes, dice: random.Random) -> bytes:
    """The file with something wrong with it."""
    start, end = sorted(dice.choices(range(len(content) + 1), k=2))
    return dice.choice(
        (
            content[:start],
            content[:start] + content[end:],
            content[:end] + content[start:],
            content[:start] + bytes(dice.choices(range(256), k=3)) + content[start:],
            content[:start]
            + dice.choice((b'"', b"<", b"&", b"\\", b"\n", b"\t", b"{", b"]", b"0"))
            + content[start + 1 :],
        )
    )
