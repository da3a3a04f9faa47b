"""Graphs of networkx, pairs and files as category graphs."""

from pathlib import Path

import networkx as nx
import pytest

from engine.errors import CycleError, FormatError, StorageError
from protoleaf import CategoryGraph, category_graph


def paths(graph: CategoryGraph) -> list[str]:
    return sorted(map(graph.path_text, graph.classes()))


def test_pairs_name_parents_and_children() -> None:
    graph = category_graph([("bird", "gull"), ("animal", "bird"), ("sea life", "gull")])
    assert paths(graph) == ["animal", "animal/bird", "sea life", "sea life/gull"]
    assert sorted(map(graph.name, graph.parents(graph.find("gull")))) == ["bird", "sea life"]
    assert repr(graph) == "CategoryGraph(4 classes, 3 edges)"


def test_a_networkx_graph_keeps_nodes_without_edges() -> None:
    source = nx.DiGraph([("animal", 3)])
    source.add_node("stone")
    assert paths(category_graph(source)) == ["animal", "animal/3", "stone"]


def test_a_file_is_read_as_import_graph_reads_it(tmp_path: Path) -> None:
    file = tmp_path / "classes.csv"
    file.write_text("child,parent\nbird,animal\ngull,bird\n", encoding="utf-8")
    assert (
        paths(category_graph(file))
        == paths(category_graph(str(file)))
        == ["animal", "animal/bird", "animal/bird/gull"]
    )


def test_a_category_graph_is_itself() -> None:
    graph = category_graph([("a", "b")])
    assert category_graph(graph) is graph


def test_what_is_no_graph_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CycleError, match="a > b"):
        category_graph([("a", "b"), ("b", "a")])
    with pytest.raises(FormatError, match=r"expected \(parent, child\), found \('a', 'b', 'c'\)"):
        category_graph([("a", "b", "c")])  # type: ignore[list-item]
    with pytest.raises(StorageError):
        category_graph(tmp_path / "missing.csv")
