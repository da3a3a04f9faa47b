"""The graph at scale, here small: figures without a window, and missed limits."""

from pathlib import Path

import pytest

from engine.interchange.taxonomies import wordnet
from research.benchmarks.graph import GraphFigure, GraphFigures
from research.benchmarks.made_taxonomy import write_taxonomy
from tests.support.command_line import done


def test_the_graph_is_timed(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """A given taxonomy is used as the large one."""
    own = write_taxonomy(tmp_path, 300).parent
    fields = done(
        capsys, "benchmark", "graph", "--wordnet", own, "--classes", "200", "--no-window", "--json"
    ).fields
    figures = {each["name"]: each for each in fields["figures"]}
    assert (fields["synsets"], fields["classes"], fields["are_kept"]) == (300, 200, True)
    assert figures["search, a letter, 95 %"]["limit"] == 50
    assert figures["all classes laid out"]["limit"] == 2
    assert all(each["value"] > 0 for each in fields["figures"] if each["unit"])
    assert figures["all classes laid out"]["computing"] > 0


def test_a_missed_limit_of_the_graph_is_reported() -> None:
    kept, free, missed = (
        GraphFigure("a", 1, "s", 2),
        GraphFigure("b", 9, "s"),
        GraphFigure("c", 3, "ms", 2),
    )
    assert GraphFigures(1, 1, (kept, free)).are_kept
    assert not GraphFigures(1, 1, (kept, free, missed)).are_kept


def test_the_made_taxonomy_has_wordnets_shape(tmp_path: Path) -> None:
    """One root, few further parents, deterministic."""
    source = write_taxonomy(tmp_path, 3000)
    graph = wordnet.read_imagenet(source)
    children = {child for _parent, child in graph.edges}
    assert len(graph.classes) == 3000
    assert len(children) == 2999
    assert 3000 * 1.01 < len(graph.edges) < 3000 * 1.05
    (tmp_path / "again").mkdir()
    assert write_taxonomy(tmp_path / "again", 3000).read_text("utf-8") == source.read_text("utf-8")
