"""Choosing folders: which to add, and which are classes."""

from pathlib import Path

import pytest

from engine.collection.importing.folder_choice import (
    all_class_folders,
    found_folders,
    known_class_folders,
    merged,
    without_folders,
)
from engine.collection.importing.import_images import add_class_folders, add_found
from engine.graph.category_graph import CategoryGraph
from engine.images.find_images import FoundImages, find_images
from tests.support.images import write_jpeg
from tests.support.projects import new_project


@pytest.fixture
def trip(tmp_path: Path) -> Path:
    """Photos in a folder, in folders of places, and in folders of classes below one of these."""
    places = (
        ".",
        "line 3",
        "parts/samples",
        "parts/samples",
        "site A/Fox",
        "site A/Fox/cubs",
        "site B/Owl",
    )
    for number, place in enumerate(places):
        (tmp_path / "trip" / place).mkdir(parents=True, exist_ok=True)
        write_jpeg(tmp_path / "trip" / place / f"{number}.jpg", seed=number)
    return tmp_path / "trip"


def names_of(paths: frozenset[Path]) -> set[str]:
    """Last components of paths."""
    return {path.name for path in paths}


def test_each_folder_has_its_counts(trip: Path) -> None:
    """Own and nested images are counted; a folder with only folders is listed, too."""
    rows = [
        (each.path.name, each.depth, each.own, each.images)
        for each in found_folders(find_images([trip]))
    ]
    assert rows == [
        ("trip", 0, 1, 7),
        ("line 3", 1, 1, 1),
        ("parts", 1, 0, 2),
        ("samples", 2, 2, 2),
        ("site A", 1, 0, 2),
        ("Fox", 2, 1, 2),
        ("cubs", 3, 1, 1),
        ("site B", 1, 0, 1),
        ("Owl", 2, 1, 1),
    ]


def test_files_that_were_named_are_counted_together(trip: Path) -> None:
    """Individual files count for their folder's row."""
    (row,) = found_folders(find_images(sorted((trip / "parts" / "samples").glob("*.jpg"))))
    assert (row.path.name, row.depth, row.images) == ("samples", 0, 2)


def test_only_chosen_folders_are_classes(trip: Path, tmp_path: Path) -> None:
    """Unchosen folders are no classes; nested folders belong to the chosen one above them."""
    found = find_images([trip])
    with new_project(tmp_path) as project:
        done = add_class_folders(
            project, found, chosen={trip / "site A" / "Fox", trip / "site B" / "Owl"}
        )
        graph = project.classes.graph
        assert (done.added, done.labelled, done.classes_added) == (7, 3, 2)
        assert {graph.path_text(each) for each in graph.classes()} == {"Fox", "Owl"}


def test_chosen_folders_below_each_other_are_a_path(trip: Path, tmp_path: Path) -> None:
    """Unchosen folders between them are skipped; split names are used if chosen."""
    (trip / "site A").rename(trip / "train")
    found = find_images([trip])
    with new_project(tmp_path) as project:
        add_class_folders(
            project, found, chosen={trip, trip / "train", trip / "train" / "Fox" / "cubs"}
        )
        graph = project.classes.graph
        assert {graph.path_text(each) for each in graph.classes()} == {
            "trip",
            "trip/train",
            "trip/train/cubs",
        }


def test_images_of_no_chosen_folder_are_of_the_class_above(trip: Path, tmp_path: Path) -> None:
    """On a drop onto a class, images outside chosen folders get that class."""
    with new_project(tmp_path) as project:
        _, animal = project.classes.add("Animal")
        add_class_folders(
            project, find_images([trip]), under=animal, chosen={trip / "site A" / "Fox"}
        )
        labels = [
            project.classes.graph.path_text(each.class_id or 0)
            for each in project.labels.by_image().values()
        ]
        assert sorted(labels) == ["Animal"] * 5 + ["Animal/Fox"] * 2


def test_folders_are_left_out(trip: Path, tmp_path: Path) -> None:
    """Excluding a folder excludes only its own images."""
    found = without_folders(
        find_images([trip]), {trip, trip / "parts" / "samples", trip / "site A" / "Fox"}
    )
    with new_project(tmp_path) as project:
        assert add_found(project, found).added == 3


def test_only_names_of_classes_are_known(trip: Path) -> None:
    """Names, synonyms and other spellings match, not words such as “parts” or ambiguous names."""
    graph = CategoryGraph()
    for name in ("fox", "Owl", "train"):
        graph.add_class(name)
    for above in ("Pens", "Tins"):
        graph.add_class("samples", (graph.add_class(above),))
    (trip / "line 3").rename(trip / "train")
    assert names_of(known_class_folders(graph, found_folders(find_images([trip])))) == {
        "Fox",
        "Owl",
    }


def test_all_but_what_they_lie_in(trip: Path) -> None:
    """A folder added without its sub-folders may be a class."""
    both = found_folders(find_images([trip, trip / "site B" / "Owl"]))
    assert names_of(all_class_folders(both)) == {
        "line 3",
        "parts",
        "samples",
        "site A",
        "Fox",
        "cubs",
        "site B",
        "Owl",
    }
    assert names_of(all_class_folders(found_folders(find_images([trip / "line 3"])))) == {"line 3"}


def test_searches_are_merged(trip: Path) -> None:
    """Images, failures and skipped files of searches are merged."""
    (trip / "line 3" / "clip.psd").write_bytes(b"x")
    (trip / "note.txt").write_text("no image")
    parts = [
        find_images([trip / "line 3"]),
        find_images([trip / "note.txt"]),
        find_images([trip / "site A"]),
    ]
    whole = merged(parts)
    assert (len(whole.files), len(whole.failures), whole.left_out.count, len(whole.named)) == (
        3,
        1,
        1,
        1,
    )
    assert merged([]) == FoundImages()
