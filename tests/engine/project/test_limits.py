"""Limits of the category graph for every kind of edit: a refused action changes nothing."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from engine.errors import GraphError
from engine.graph import group_edits
from engine.graph.limits import DEEPEST_LEVEL
from engine.project import Project, SplitPart
from tests.support.deep_graphs import add_all, add_deep, chain
from tests.support.projects import dump, named, new_project

LAST = "end 0"
TOO_DEEP = (
    f"expected at most {DEEPEST_LEVEL} levels below the top, found .* on level {DEEPEST_LEVEL + 1}"
)


@pytest.fixture
def deep(tmp_path: Path) -> Iterator[Project]:
    """A project of maximum depth, with another class that has a child."""
    with new_project(tmp_path) as project:
        add_deep(project, dict(chain()) | {"beside": [], "below": ["beside"]})
        yield project


EDITS: dict[str, Callable[[Project, int, int], object]] = {
    "add": lambda project, last, _beside: project.classes.add("further", [last]),
    "add a parent": lambda project, _last, _beside: project.classes.add_parent(
        "between", [1], None
    ),
    "link": lambda project, last, beside: project.classes.link(last, [beside]),
    "link several": lambda project, last, beside: project.classes.link(last, [beside]),
    "move": lambda project, last, beside: project.classes.move([(beside, None)], last),
    "move several": lambda project, last, beside: project.classes.move([(beside, None)], last),
    "merge": lambda project, last, beside: project.classes.merge([beside], last),
    "split": lambda project, last, _beside: project.classes.split(
        last, [SplitPart("one", ())], as_children=True
    ),
    "paste": lambda project, last, beside: project.classes.paste(
        project.classes.copied([beside]), last
    ),
    "import": lambda project, _last, beside: project.classes.edit(
        lambda graph: graph.link(graph.find("end 1"), beside), named("")
    ),
}


@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS)
def test_no_edit_goes_deeper(deep: Project, edit: Callable[[Project, int, int], object]) -> None:
    """The error names class and depth, and nothing changed."""
    before = dump(deep)
    with pytest.raises(GraphError, match="nest too deeply") as caught:
        edit(deep, deep.classes.graph.find(LAST), deep.classes.graph.find("beside"))
    assert f"expected at most {DEEPEST_LEVEL} levels below the top" in str(caught.value)
    assert dump(deep) == before
    assert len(deep.classes.graph) == len(chain()) + 2


def test_what_is_tried_out_has_the_same_limits(deep: Project) -> None:
    """What-if edits have the same limits."""
    deep.what_if.begin()
    with pytest.raises(GraphError, match=TOO_DEEP):
        deep.classes.add("further", [deep.classes.graph.find(LAST)])


def test_edits_that_sink_nothing_are_free(deep: Project) -> None:
    """Renaming, moving up, removing and undo are always permitted."""
    last = deep.classes.graph.find(LAST)
    deep.classes.rename(last, "the last")
    deep.classes.move(
        [(last, deep.classes.graph.parents(last)[0])], deep.classes.graph.find("beside")
    )
    assert deep.classes.graph.level(last) == 1
    deep.history.undo()
    assert deep.classes.graph.level(last) == DEEPEST_LEVEL


def test_a_project_from_before_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It can be opened and used.

    A class that is too deep may stay, rise or be removed, but not go deeper.
    """
    with monkeypatch.context() as patch, new_project(tmp_path) as project:
        patch.setattr(group_edits, "DEEPEST_LEVEL", 700)
        ids = add_deep(project, chain(600))
    with Project.open(tmp_path / "birds.protoleaf") as project:
        last = ids[LAST]
        project.classes.link(ids["level 3"], [ids["level 599"]])
        project.classes.link(ids["level 0"], [ids["level 550"]])
        beside = project.classes.add("beside", [ids["level 0"]])[1]
        for parent in ("level 599", "level 500"):
            with pytest.raises(GraphError, match="nest too deeply"):
                project.classes.link(ids[parent], [beside])
        with pytest.raises(GraphError, match="on level 601"):
            project.classes.move([(ids["end 1"], ids["level 599"])], last)
        project.classes.move([(last, ids["level 599"])], ids["level 598"])
        project.classes.remove([ids["level 300"]])
        assert project.classes.graph.level(last) == 598


def test_there_is_a_largest_number_of_classes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One more is refused; renaming works."""
    monkeypatch.setattr(group_edits, "MOST_CLASSES", 3)
    with new_project(tmp_path) as project:
        project.classes.edit(lambda graph: add_all(graph, {"a": [], "b": [], "c": []}), named(""))
        with pytest.raises(GraphError, match="too many classes: expected at most 3, found 4"):
            project.classes.add("d")
        project.classes.rename(1, "e")
        assert sorted(map(project.classes.graph.name, project.classes.graph.classes())) == [
            "b",
            "c",
            "e",
        ]


def test_a_pasted_text_is_measured_where_it_goes(tmp_path: Path) -> None:
    """Depth is checked at the target: permitted at the top, not below a class."""
    rows = [
        {"name": str(each), "parents": [each - 1] if each else []}
        for each in range(DEEPEST_LEVEL + 1)
    ]
    text = json.dumps({"protoleaf": "classes", "classes": rows})
    with new_project(tmp_path) as project:
        top = project.classes.add("top")[1]
        with pytest.raises(GraphError, match=TOO_DEEP):
            project.classes.paste(text, top)
        project.classes.paste(text, None)
        assert len(project.classes.graph) == DEEPEST_LEVEL + 2
