"""Measuring the drawing of the graph where requested by the environment."""

import json
from pathlib import Path

import pytest

from engine.collection.new_project import new_project
from engine.project import Project
from research.window import graph_report
from research.window.graph_report import REPORT_VARIABLE, RUN_VARIABLE, attach_graph_report
from tests.engine.graph_drawing.drawings import bushy_graph
from tests.support.desk import Desk
from tests.support.projects import named

FRAMES, MOVES = 2, 2


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project of 300 classes; less than half fit into the first drawing."""
    path = tmp_path / "graph.protoleaf"
    graph = bushy_graph(300, 4)
    with new_project(path) as project:
        names = [(graph.name(each), graph.parents(each)) for each in graph.classes()]
        project.classes.edit(
            lambda own: [own.add_class(name, parents) for name, parents in names],
            named("Add classes"),
        )
    return path


@pytest.mark.slow
@pytest.mark.parametrize("run", ["look", "edit"])
def test_the_drawing_is_measured(
    run: str, desk: Desk, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """First the classes that fit, in the end all; moves and frames are timed; the project stays."""
    report = tmp_path / "report.json"
    monkeypatch.setenv(REPORT_VARIABLE, str(report))
    monkeypatch.setenv(RUN_VARIABLE, run)
    for name, value in (("SETTLE_MS", 0), ("FRAMES", FRAMES), ("MOVES", MOVES)):
        monkeypatch.setattr(graph_report, name, value)
    attach_graph_report(desk.window)
    desk.open(project)
    desk.wait(report.exists)
    figures = json.loads(report.read_text(encoding="utf-8"))
    assert 3 < figures["first_classes"] <= 120
    assert min(figures["first"]) > 0
    assert figures["memory_mib"] > 20
    if run == "edit":
        assert figures["all_classes"] == 300
        assert len(figures["moves"]) == MOVES
        assert (len(figures["pan"]), len(figures["zoom"])) == (6 * FRAMES, 2 * FRAMES)
        with Project.open(project, for_writing=False) as kept:
            assert sorted(kept.classes.graph.edges()) == sorted(bushy_graph(300, 4).edges())
    else:
        assert len(figures["flights"]) == 5
