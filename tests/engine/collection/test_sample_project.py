"""The bundled sample collection."""

from pathlib import Path

from engine.collection.new_project import copy_sample_project
from engine.project import Project
from tests.support.graphs import names_of


def test_a_class_with_two_parents_and_names_in_languages(tmp_path: Path) -> None:
    """As in its tables: a hip is a berry, not the reverse."""
    with Project.open(copy_sample_project(tmp_path / "sample"), for_writing=False) as project:
        graph = project.classes.graph
        assert sorted(names_of(graph, graph.parents(graph.find("Rose hip")))) == [
            "Berries",
            "Roses",
        ]
        assert names_of(graph, graph.parents(graph.find("Berries"))) == ["Fruits"]
        assert graph.attributes(graph.find("Acorn")).name_in("fr") == "Gland"
        assert len(graph.levels()) == 3
