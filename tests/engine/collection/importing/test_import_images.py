"""Importing images: which class a folder means, and what is one history step."""

import os
import shutil
import sys
from pathlib import Path

import pytest

from engine.collection.importing.import_graph import import_graph
from engine.collection.importing.import_images import (
    add_class_folders,
    add_found,
    import_class_folders,
    import_images,
)
from engine.errors import Cancelled, StorageError
from engine.events import CancelToken, Progress
from engine.files import FileFailure
from engine.images.find_images import find_images
from engine.project import Project
from engine.project.clock import person_name
from tests.support.images import write_jpeg
from tests.support.projects import new_project


def _tree(root: Path, *folders: str) -> Path:
    for number, folder in enumerate(folders):
        (root / folder).mkdir(parents=True, exist_ok=True)
        write_jpeg(root / folder / f"{number}.jpg", seed=number)
    return root


def _paths_of_labels(project: Project) -> dict[str, str]:
    return {
        Path(project.images.record(image_id).path).name: project.classes.graph.path_text(
            label.class_id
        )
        for image_id, label in project.labels.by_image().items()
        if label.class_id is not None
    }


def test_labels_of_class_folders_name_the_folder_that_they_came_from(tmp_path: Path) -> None:
    """With a source of their own: imported by folder, or dropped on a class by a person."""
    shelf, drawer = _tree(tmp_path / "shelf", "Gull"), _tree(tmp_path / "drawer", "Auk")
    with new_project(tmp_path) as project:
        import_class_folders(project, [shelf])
        assert {label.who for label in project.labels.by_image().values()} == {"shelf"}
        import_class_folders(project, [drawer, _tree(tmp_path / "box", "Puffin", "Fulmar")])
        assert {label.who for label in project.labels.by_image().values()} == {
            "shelf",
            "drawer and 1 more",
        }
        loose = write_jpeg(tmp_path / "loose.jpg", seed=9)
        (added,) = import_images(
            project, [loose], class_id=project.classes.graph.find("Gull")
        ).change.images_added
        assert project.labels.by_image()[added].who == person_name()


def test_folders_make_the_classes_they_lack(tmp_path: Path) -> None:
    """Nested folders make a path of classes; images in the given folder itself stay unlabelled."""
    with new_project(tmp_path) as project:
        done = import_class_folders(
            project, [_tree(tmp_path / "in", ".", "Fruit/Apple/Gala", "Fruit/Pear")], who="ada"
        )
        assert (done.added, done.labelled, done.classes_added, done.already_there) == (3, 2, 4, 0)
        assert _paths_of_labels(project) == {"1.jpg": "Fruit/Apple/Gala", "2.jpg": "Fruit/Pear"}
        assert {label.who for label in project.labels.by_image().values()} == {"ada"}
        assert [step.text for step in project.history.steps()] == ["Added 3 images and 2 labels"]
        assert project.history.undo() is not None
        assert (len(project.classes.graph), project.images.count) == (0, 0)


def test_a_folder_means_the_one_class_of_its_name(tmp_path: Path) -> None:
    """A flat folder matches a class anywhere in the graph, unless its name is ambiguous."""
    with new_project(tmp_path) as project:
        import_class_folders(project, [_tree(tmp_path / "a", "Bird/Gull", "Bird/Jet", "Plane/Jet")])
        before = len(project.classes.graph)
        done = import_class_folders(project, [_tree(tmp_path / "b", "Gull", "Jet")])
        assert done.classes_added == 1
        assert len(project.classes.graph) == before + 1
        found = {
            image.path: project.labels.of(image.image_id) for image in project.images.records()
        }
        gull, jet = found["b/Gull/0.jpg"], found["b/Jet/1.jpg"]
        assert gull is not None
        assert jet is not None
        assert project.classes.graph.path_text(gull.class_id or 0) == "Bird/Gull"
        assert project.classes.graph.path_text(jet.class_id or 0) == "Jet"


def test_namesakes_in_one_import_stay_apart(tmp_path: Path) -> None:
    """Left/Other and Right/Other are two classes, whether one or both are new."""
    with new_project(tmp_path) as project:
        import_class_folders(project, [_tree(tmp_path / "a", "Left/Other", "Right/Other")])
        assert _paths_of_labels(project) == {"0.jpg": "Left/Other", "1.jpg": "Right/Other"}
    with new_project(tmp_path, "second.protoleaf") as project:
        _, left = project.classes.add("Left")
        project.classes.add("Other", [left])
        project.classes.add("Right")
        import_class_folders(project, [_tree(tmp_path / "b", "Left/Other", "Right/Other")])
        assert _paths_of_labels(project) == {"0.jpg": "Left/Other", "1.jpg": "Right/Other"}


def test_folders_below_a_class(tmp_path: Path) -> None:
    """Dropped on a class, sub-folders become its children; single images get its label."""
    with new_project(tmp_path) as project:
        _, bird = project.classes.add("Bird")
        done = import_class_folders(project, [_tree(tmp_path / "in", ".", "Gull")], under=bird)
        assert done.labelled == 2
        assert _paths_of_labels(project) == {"0.jpg": "Bird", "1.jpg": "Bird/Gull"}


def test_the_same_folder_twice(tmp_path: Path) -> None:
    """Nothing is added twice; a label changed in between stays."""
    with new_project(tmp_path) as project:
        tree = _tree(tmp_path / "in", "Gull", "Auk")
        first = import_class_folders(project, [tree])
        auk = project.classes.graph.find("Auk")
        project.labels.set(first.change.images_added, auk)
        again = import_class_folders(project, [tree])
        assert (again.added, again.already_there, again.labelled, again.classes_added) == (
            0,
            2,
            0,
            0,
        )
        assert again.change.is_empty
        assert project.labels.counts() == {auk: 2}


def test_folders_that_refuse_are_listed(tmp_path: Path) -> None:
    """An unreadable folder is reported as a failure; the others are imported."""
    locked = FileFailure(tmp_path / "in" / "Locked", "the folder cannot be read: Permission denied")
    found = find_images([_tree(tmp_path / "in", "Gull")])
    found.failures.append(locked)
    with new_project(tmp_path) as project:
        done = add_class_folders(project, found)
        assert (done.added, done.failures) == (1, (locked,))


def test_what_was_found_is_added_without_asking_the_disk(tmp_path: Path) -> None:
    """The file system is not read again; with and without class folders."""
    tree = _tree(tmp_path / "in", "Gull", "Auk")
    found = find_images([tree])
    shutil.rmtree(tree)
    with new_project(tmp_path) as project:
        assert add_class_folders(project, found).labelled == 2
        project.history.undo()
        assert add_found(project, found).added == 2


def test_a_folder_name_that_is_no_class_name(tmp_path: Path) -> None:
    """Folders with invalid class names are failures, one each; the rest is one step."""
    odd = {"Gull\nof the sea": "line breaks", " \u2003": "needs a name"}
    tree = _tree(tmp_path / "in", "Auk", *odd, "Auk/ /Deep", "Auk/ /Deeper", "Tern")
    with new_project(tmp_path) as project:
        done = import_class_folders(project, [tree])
        assert (done.added, done.labelled, done.classes_added) == (2, 2, 2)
        assert sorted(
            project.classes.graph.name(class_id) for class_id in project.classes.graph.classes()
        ) == [
            "Auk",
            "Tern",
        ]
        reasons = {failure.path: failure.reason for failure in done.failures}
        assert set(reasons) == {tree / name for name in (*odd, "Auk/ ")}
        assert all(words in reasons[tree / name] for name, words in odd.items())
        assert all("nothing in this folder was added" in reason for reason in reasons.values())
        project.history.undo()
        assert (len(project.classes.graph), project.images.count) == (0, 0)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse such names")
def test_a_folder_name_that_is_no_unicode(tmp_path: Path) -> None:
    """Undecodable names are reported as failures."""
    tree = _tree(tmp_path / "in", "Auk", os.fsdecode(b"m\xf6we"))
    with new_project(tmp_path) as project:
        done = import_class_folders(project, [tree])
        assert (done.added, done.classes_added) == (1, 1)
        assert [os.fsencode(failure.path.name) for failure in done.failures] == [b"m\xf6we"]


def test_stopped_before_anything_is_added(tmp_path: Path) -> None:
    """The project is unchanged, with and without class folders."""
    cancel = CancelToken()
    cancel.cancel()
    tree = _tree(tmp_path / "in", "Gull")
    with new_project(tmp_path) as project:
        for run in (import_images, import_class_folders):
            with pytest.raises(Cancelled):
                run(project, [tree], cancel=cancel)
        assert (len(project.classes.graph), project.images.count) == (0, 0)


def test_stopped_while_adding(tmp_path: Path) -> None:
    """Cancelling while images are added leaves neither images nor classes."""
    tree = _tree(tmp_path / "in", "Gull", "Auk")
    with new_project(tmp_path) as project:
        for run in (import_images, import_class_folders):
            cancel = CancelToken()

            def stop(progress: Progress, cancel: CancelToken = cancel) -> None:
                if progress.total == 2 > progress.done:
                    cancel.cancel()

            with pytest.raises(Cancelled):
                run(project, [tree], on_progress=stop, cancel=cancel)
        assert (len(project.classes.graph), project.images.count, project.history.steps()) == (
            0,
            0,
            [],
        )


def test_progress_and_missing_paths(tmp_path: Path) -> None:
    """Found files are reported; a missing path stops the import before anything is added."""
    reported: list[Progress] = []
    tree = _tree(tmp_path / "in", "Gull", "Auk")
    with new_project(tmp_path) as project:
        with pytest.raises(StorageError):
            import_images(project, [tree, tmp_path / "nowhere"])
        assert project.images.count == 0
        done = import_images(project, [tree, tree / "Gull" / "0.jpg"], on_progress=reported.append)
        assert done.added == 2
        assert reported[-1].done == 2


def _wordnet(folder: Path) -> Path:
    """A few synsets as ImageNet publishes them: two kinds of crane, and a tench."""
    folder.mkdir()
    edges = [(1, 2), (1, 3), (2, 1440764), (2, 2012849), (3, 3126707)]
    words = {
        1: "entity",
        2: "animal",
        3: "artifact",
        1440764: "tench, Tinca tinca",
        2012849: "crane, wader",
    }
    words[3126707] = "derrick, wader"
    lines = [f"n{parent:08} n{child:08}\n" for parent, child in edges]
    (folder / "wordnet.is_a.txt").write_text("".join(lines), encoding="utf-8")
    (folder / "words.txt").write_text(
        "".join(f"n{key:08}\t{text}\n" for key, text in words.items()), encoding="utf-8"
    )
    return folder


def test_folders_of_imagenet_are_the_classes_of_wordnet(tmp_path: Path) -> None:
    """Folders named by source id or synonym match at any depth; no class is created."""
    with new_project(tmp_path) as project:
        import_graph(project, _wordnet(tmp_path / "wordnet"))
        tree = _tree(
            tmp_path / "in", "train/n01440764", "n02012849", "Tinca tinca", "entity/n03126707"
        )
        done = import_class_folders(project, [tree])
        assert (done.added, done.labelled, done.classes_added, done.failures) == (4, 4, 0, ())
        assert _paths_of_labels(project) == {
            "0.jpg": "entity/animal/tench",
            "1.jpg": "entity/animal/crane",
            "2.jpg": "entity/animal/tench",
            "3.jpg": "entity/artifact/derrick",
        }


def test_ids_count_below_the_class_that_was_dropped_on(tmp_path: Path) -> None:
    """Below "animal", ids of its descendants match; other ids make new classes."""
    with new_project(tmp_path) as project:
        import_graph(project, _wordnet(tmp_path / "wordnet"))
        animal = project.classes.graph.find("animal")
        done = import_class_folders(
            project, [_tree(tmp_path / "in", "wader", "n03126707")], under=animal
        )
        assert done.classes_added == 1
        assert _paths_of_labels(project) == {
            "0.jpg": "entity/animal/crane",
            "1.jpg": "entity/animal/n03126707",
        }


def test_an_exact_name_wins_over_an_id(tmp_path: Path) -> None:
    """A class name has priority over ids and synonyms of other classes."""
    with new_project(tmp_path) as project:
        import_graph(project, _wordnet(tmp_path / "wordnet"))
        _, wader = project.classes.add("wader", [project.classes.graph.find("artifact")])
        import_class_folders(project, [_tree(tmp_path / "in", "wader")])
        assert project.labels.counts() == {wader: 1}


def test_a_folder_that_is_a_synonym_of_several_classes(tmp_path: Path) -> None:
    """A folder whose name is ambiguous is a failure that lists the classes; others are added."""
    with new_project(tmp_path) as project:
        import_graph(project, _wordnet(tmp_path / "wordnet"))
        tree = _tree(tmp_path / "in", "wader", "n01440764")
        done = import_class_folders(project, [tree])
        assert (done.added, done.classes_added) == (1, 0)
        (failure,) = done.failures
        assert failure.path == tree / "wader"
        assert '"entity/animal/crane", "entity/artifact/derrick"' in failure.reason
        assert str(project.history.undo_action) == "Added 1 image as tench"
