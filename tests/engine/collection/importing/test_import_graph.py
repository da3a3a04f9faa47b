"""Importing a taxonomy and its next versions: labels are carried over, undo restores all."""

from pathlib import Path

import pytest

from engine.collection.importing.import_graph import (
    PART_LENGTH,
    SETTING,
    GraphImport,
    import_graph,
    known_sources,
    preview_import,
)
from engine.errors import ProjectDamagedError
from engine.graph.class_attributes import ClassAttributes
from engine.interchange.detect import read_graph
from engine.interchange.imported import ImportedClass, ImportedGraph, attributes_at
from engine.project import Project
from tests.support.graphs import names_of
from tests.support.projects import dump, found_files, new_project

V1 = "id,child,parent\na,Bird,\ng,Gull,Bird\nt,Tern,Bird\nk,Auk,Bird\ns,Skua,Bird\n"
V2 = (
    '{"classes": [{"id": "a", "name": "Bird"}, {"id": "g", "name": "Larus", "parents": ["a"]}, '
    '{"id": "w", "name": "Wader", "parents": ["a"]}, {"id": "t", "name": "Tern", "parents": ["w"], '
    '"synonyms": ["Auk"]}]}'
)


@pytest.fixture
def birds(tmp_path: Path) -> Project:
    """A project with the first version, and two labels in each class except Bird."""
    project = new_project(tmp_path)
    take(project, tmp_path / "v1.csv", V1)
    names = names_of(project.classes.graph, project.classes.graph.leaves())
    images = iter(project.images.add(found_files(tmp_path / "photos", 2 * len(names))).images_added)
    for name in names:
        project.labels.set([next(images), next(images)], project.classes.graph.find(name))
    return project


def take(
    project: Project,
    source: Path,
    content: str,
    *,
    updates: bool = False,
    removes_gone: bool = False,
) -> GraphImport:
    """Write a source file and import it."""
    source.write_text(content, encoding="utf-8")
    return import_graph(project, source, updates=updates, removes_gone=removes_gone)


def labels(project: Project) -> dict[str, int]:
    """Number of labels by path of their class."""
    return {
        project.classes.graph.path_text(class_id): count
        for class_id, count in project.labels.counts().items()
    }


def test_a_new_version_carries_the_labels(birds: Project, tmp_path: Path) -> None:
    """Renamed and moved classes keep labels, merged ones pass them on, dropped ones keep them."""
    before = dump(birds)
    done = take(birds, tmp_path / "v2.json", V2, updates=True)
    assert labels(birds) == {"Bird/Larus": 2, "Bird/Wader/Tern": 4, "Bird/Skua": 2}
    assert done.change.text == "Updated from v2.json: 1 new class, 1 renamed, 1 moved, 1 merged"
    assert birds.classes.graph.parents(birds.classes.graph.find("Tern")) == (
        birds.classes.graph.find("Wader"),
    )
    assert birds.check() == []
    after = dump(birds)
    birds.history.undo()
    assert dump(birds) == before
    birds.history.redo()
    assert dump(birds) == after


def test_a_preview_says_it_and_writes_nothing(birds: Project, tmp_path: Path) -> None:
    """Paths before and after, labels and levels; lists may be truncated."""
    (tmp_path / "v2.json").write_text(V2, encoding="utf-8")
    imported = read_graph(tmp_path / "v2.json")
    before = dump(birds)
    preview = preview_import(birds, imported, "v2.json", updates=True)
    assert dump(birds) == before
    assert (preview.is_known, preview.changes, preview.gone_unlabelled) == (True, True, 0)
    report = preview.report
    assert (report.classes, report.edges, report.levels, report.same) == (4, 3, (1, 2, 1), 1)
    lines = {
        kind: [(each.path, each.becomes, each.labels) for each in found]
        for kind, found in report.lists.items()
    }
    assert lines == {
        "new": [("Bird/Wader", "", 0)],
        "renamed": [("Bird/Gull", "Larus", 2)],
        "moved": [("Bird/Tern", "Bird/Wader/Tern", 2)],
        "merged": [("Bird/Auk", "Bird/Wader/Tern", 2)],
        "split": [],
        "gone": [("Bird/Skua", "", 2)],
        "removed_here": [],
        "kept": [],
    }
    short = preview_import(birds, imported, "v2.json", updates=False, most=0).report
    assert (short.counts["new"], short.lists["new"], short.is_update) == (3, (), False)


def test_what_is_gone_is_removed_only_when_asked_and_without_labels(
    birds: Project, tmp_path: Path
) -> None:
    """Only on request and without labels; children added by hand move to its parent."""
    auk, skua = birds.classes.graph.find("Auk"), birds.classes.graph.find("Skua")
    birds.labels.remove(
        [image_id for image_id, label in birds.labels.by_image().items() if label.class_id == skua]
    )
    _, mine = birds.classes.add("Mine", [skua])
    done = take(
        birds,
        tmp_path / "v2.csv",
        "child,parent\nBird,\nGull,Bird\nTern,Bird\n",
        updates=True,
        removes_gone=True,
    )
    assert (done.classes_removed, done.stayed) == (1, ("Bird/Auk: it has labels",))
    assert auk in birds.classes.graph
    assert names_of(birds.classes.graph, birds.classes.graph.parents(mine)) == ["Bird"]
    assert done.change.text == "Updated from v2.csv: 1 removed"


def test_a_class_that_cannot_be_merged_stays(birds: Project, tmp_path: Path) -> None:
    """Children with the same name block the merge: it is reported and the rest is updated."""
    for name in ("Auk", "Tern"):
        birds.classes.add("Young", [birds.classes.graph.find(name)])
    done = take(birds, tmp_path / "v2.json", V2, updates=True)
    assert len(done.stayed) == 1
    assert done.stayed[0].startswith('Bird/Auk: there is already a class "Young"')
    assert labels(birds)["Bird/Auk"] == 2
    assert labels(birds)["Bird/Larus"] == 2


def test_the_same_file_again_changes_nothing(birds: Project, tmp_path: Path) -> None:
    """Re-importing an unchanged file changes nothing and reverts no edits."""
    birds.classes.rename(birds.classes.graph.find("Gull"), "Möwe")
    assert take(birds, tmp_path / "v1 (1).csv", V1, updates=True).change.is_empty
    assert labels(birds)["Bird/Möwe"] == 2


def test_a_list_whose_classes_are_all_here_is_remembered(tmp_path: Path) -> None:
    """So that its next version is not mixed up with classes made by hand."""
    with new_project(tmp_path) as project:
        _, bird = project.classes.add("Bird")
        project.classes.add("Gull", [bird])
        change = take(project, tmp_path / "v1.csv", "child,parent\nGull,Bird\n").change
        assert (change.text, change.graph_edits) == ("Remembered the classes of v1.csv", ())
        assert [each.name for each in known_sources(project)] == ["v1.csv"]
        project.history.undo()
        assert known_sources(project) == []


def test_two_sources_and_their_next_versions(birds: Project, tmp_path: Path) -> None:
    """Each is stored and compared separately."""
    take(birds, tmp_path / "fruit.csv", "child,parent\nFruit,\nApple,Fruit\n")
    take(
        birds,
        tmp_path / "fruit 2.csv",
        "child,parent\nFruit,\nApple,Fruit\nPear,Fruit\n",
        updates=True,
    )
    assert [(each.name, len(each.classes)) for each in known_sources(birds)] == [
        ("v1.csv", 5),
        ("fruit 2.csv", 3),
    ]


def test_a_large_source_takes_several_settings_and_gives_them_back(
    birds: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is split over several settings; unused ones are removed; a missing one is damage."""
    monkeypatch.setattr("engine.collection.importing.import_graph.PART_LENGTH", 60)
    assert PART_LENGTH > 60
    wide = V1 + "".join(f"x{number},Warbler {number},Bird\n" for number in range(40))
    take(birds, tmp_path / "v2.csv", wide, updates=True)
    (parts,) = birds.policies.setting(SETTING)
    assert parts > 2
    assert len(known_sources(birds)[0].classes) == 45
    take(birds, tmp_path / "v3.csv", V1, updates=True)
    (fewer,) = birds.policies.setting(SETTING)
    assert fewer < parts
    assert birds.policies.setting(f"imported taxonomy 0.{parts - 1}") is None
    birds.policies.set_setting("imported taxonomy 0.0", None)
    with pytest.raises(ProjectDamagedError, match="is missing"):
        known_sources(birds)


def test_a_project_from_before_sources_were_remembered(tmp_path: Path) -> None:
    """A list similar to the project can be chosen as its next version."""
    with new_project(tmp_path) as project:
        _, bird = project.classes.add("Bird")
        _, gull = project.classes.add("Gull", [bird])
        _, mine = project.classes.add("Auk", [bird])
        (tmp_path / "v2.json").write_text(
            '{"name": "Bird", "children": [{"name": "Seabird", "children": [{"name": "Gull"}]}]}',
            encoding="utf-8",
        )
        preview = preview_import(
            project, read_graph(tmp_path / "v2.json"), "v2.json", updates=False
        )
        assert (preview.is_known, preview.is_alike) == (False, True)
        import_graph(project, tmp_path / "v2.json", updates=True)
        assert project.classes.graph.path_text(gull) == "Bird/Seabird/Gull"
        assert mine in project.classes.graph
        unrelated = tmp_path / "cars.csv"
        unrelated.write_text("child,parent\nCar,\nBus,Car\n", encoding="utf-8")
        cars = preview_import(project, read_graph(unrelated), "cars.csv", updates=True)
        assert (cars.is_alike, cars.report.counts["gone"]) == (False, 0)


def test_notes_and_colours_come_along(tmp_path: Path) -> None:
    """For classes without; existing notes stay. Invalid characters in notes are dropped."""
    long = "x" * 20_000
    imported = ImportedGraph(
        (
            ImportedClass(
                "b", "Bird", attributes_at("", "", note="Feathered\x07 animals", colour="#FF8800")
            ),
            ImportedClass("g", "Gull", attributes_at("", "", note=long)),
            ImportedClass("t", "Tern", ClassAttributes(note="Theirs", colour="#112233")),
        ),
        (("b", "g"), ("b", "t")),
    )
    with new_project(tmp_path) as project:
        _, bird = project.classes.add("Bird")
        _, tern = project.classes.add("Tern", [bird])
        project.classes.set_attributes([tern], note="Mine")
        assert preview_import(project, imported, "birds.obo", updates=False).noted == 3
        import_graph(project, tmp_path / "birds.obo", read=imported)
        gull = project.classes.graph.find("Gull")
        assert dict(project.classes.graph.all_attributes()) == {
            bird: ClassAttributes(note="Feathered animals", colour="#ff8800"),
            gull: ClassAttributes(note=long[:9_996] + " […]"),
            tern: ClassAttributes(note="Mine", colour="#112233"),
        }
        assert import_graph(project, tmp_path / "birds.obo", read=imported).change.is_empty
        project.classes.set_attributes([gull], note="")
        change = import_graph(project, tmp_path / "birds.obo", read=imported).change
        assert change.text == "Imported notes of 1 class from birds.obo"


@pytest.mark.parametrize(("classes", "is_locked"), [(100, False), (101, True)])
def test_a_long_list_locks_the_class_list(tmp_path: Path, classes: int, is_locked: bool) -> None:
    """In the step of the import, whose description mentions it; unlocking is permanent."""
    source = tmp_path / "list.csv"
    source.write_text(
        "class\n" + "".join(f"Kind {each}\n" for each in range(classes)), encoding="utf-8"
    )
    with new_project(tmp_path) as project:
        done = import_graph(project, source)
        assert (project.policies.is_locked, "locked" in str(done.change.action)) == (
            is_locked,
            is_locked,
        )
        project.history.undo()
        assert (project.policies.is_locked, len(project.classes.graph)) == (False, 0)
