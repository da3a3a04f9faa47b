"""The sample collection: content, tables, and reproducibility."""

import csv
from collections import Counter
from itertools import pairwise
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from PIL import Image

from engine.config import assets_folder
from engine.errors import Cancelled, StorageError, UsageError
from engine.events import CancelToken, Progress
from engine.interchange.taxonomies import class_tables
from research.sample_painter.catalogue import COARSELY_LABELLED, KINDS
from research.sample_painter.collection import SampleCollection, draw_collection
from research.sample_painter.orders import orders_of


@pytest.fixture(scope="module")
def reported() -> list[Progress]:
    """Progress reports of drawing `collection`."""
    return []


@pytest.fixture(scope="module")
def collection(
    tmp_path_factory: pytest.TempPathFactory, reported: list[Progress]
) -> SampleCollection:
    """A small collection: two pictures of each leaf class."""
    return draw_collection(
        tmp_path_factory.mktemp("collection"), images_per_class=2, on_progress=reported.append
    )


def rows_of(path: Path) -> list[tuple[str, str]]:
    """Rows of a table with two columns, without its header."""
    with path.open(encoding="utf-8", newline="") as file:
        return [(first, second) for first, second in csv.reader(file)][1:]


def drawn_until(folder: Path, count: int, *, seed: int) -> dict[str, bytes]:
    """The first pictures of a collection, by file name, drawn until cancelled."""
    cancel = CancelToken()

    def watch(progress: Progress) -> None:
        if len(list(folder.rglob("*.jpg"))) >= count:
            cancel.cancel()
        assert progress.done <= progress.total

    with pytest.raises(Cancelled):
        draw_collection(folder, seed=seed, on_progress=watch, cancel=cancel)
    return {path.name: path.read_bytes() for path in folder.rglob("*.jpg")}


@pytest.mark.slow
def test_graph_has_three_levels_and_one_class_with_two_parents(
    collection: SampleCollection,
) -> None:
    """The graph has no cycles and three levels; only the rose hip has two parents."""
    graph = nx.DiGraph(
        [(parent, entry.name) for entry in collection.classes for parent in entry.parents]
    )
    assert nx.is_directed_acyclic_graph(graph)
    assert nx.dag_longest_path_length(graph) == 2
    assert [entry.name for entry in collection.classes if len(entry.parents) > 1] == ["Rose hip"]
    leaves = {name for name in graph if graph.out_degree(name) == 0}
    assert leaves == {kind.name for kind in KINDS}
    assert 24 <= len(leaves) <= 28


def test_parents_come_before_their_children(collection: SampleCollection) -> None:
    """Names are unique, and classes can be added in order."""
    seen: set[str] = set()
    for entry in collection.classes:
        assert entry.name not in seen
        assert seen.issuperset(entry.parents)
        seen.add(entry.name)


@pytest.mark.slow
def test_edges_are_read_by_the_import(collection: SampleCollection) -> None:
    """The import of tables reads the table of edges."""
    imported = class_tables.read(collection.edges_csv)
    assert {entry.name for entry in imported.classes} == {
        entry.name for entry in collection.classes
    }
    expected = {(parent, entry.name) for entry in collection.classes for parent in entry.parents}
    assert set(imported.edges) == expected


def test_planned_shots() -> None:
    """Most leaf classes have five shots, a few have three, and exactly two have none."""
    shots = Counter(kind.shots for kind in KINDS)
    assert set(shots) == {0, 3, 5}
    assert shots[0] == 2
    assert shots[5] > shots[3] > shots[0]


def test_classes_without_shots_have_a_coarsely_labelled_parent() -> None:
    """A class without shots has a parent with images of its own."""
    without = [kind for kind in KINDS if not kind.shots]
    assert all(set(kind.parents) & set(COARSELY_LABELLED) for kind in without)


def test_images_are_counted_right(collection: SampleCollection) -> None:
    """Each leaf class has the requested number of images, at most half of them shots."""
    images = Counter(image.class_name for image in collection.images)
    shots = Counter(image.class_name for image in collection.images if image.is_shot)
    for kind in KINDS:
        assert images[kind.name] == 2
        assert shots[kind.name] == (1 if kind.shots else 0)
    for group in COARSELY_LABELLED:
        assert images[group] == shots[group] == 2
    assert images[""] == 2
    assert shots[""] == 0


def test_tables_fit_the_images(collection: SampleCollection) -> None:
    """Every image is in exactly one of the two tables, with its class; strays have an empty one."""
    truth, shots = rows_of(collection.truth_csv), rows_of(collection.shots_csv)
    assert truth == [
        (image.path, image.class_name) for image in collection.images if not image.is_shot
    ]
    assert shots == [(image.path, image.class_name) for image in collection.images if image.is_shot]
    assert [image.path for image in collection.images] == sorted(
        image.path for image in collection.images
    )
    on_disk = {
        path.relative_to(collection.folder).as_posix() for path in collection.folder.rglob("*.jpg")
    }
    assert {path for path, _ in truth + shots} == on_disk


def test_names_do_not_give_the_class_away(collection: SampleCollection) -> None:
    """File numbers of a class are scattered."""
    names = [image.class_name for image in collection.images]
    neighbours = sum(first == second for first, second in pairwise(names))
    assert neighbours < len(names) // 6


def test_pictures_are_photographs_of_something(collection: SampleCollection) -> None:
    """Files decode to RGB JPEGs of about 320 pixels that are neither flat nor similar."""
    means = []
    for image in collection.images:
        with Image.open(collection.folder / image.path) as picture:
            assert (picture.format, picture.mode) == ("JPEG", "RGB")
            assert 260 <= min(picture.size) <= max(picture.size) <= 400
            pixels = np.asarray(picture, np.float32)
        assert pixels.std() > 8
        means.append(tuple(pixels.mean(axis=(0, 1))))
    assert len(set(means)) == len(means)


@pytest.mark.slow
def test_same_seed_same_bytes(tmp_path: Path) -> None:
    """A seed determines the bytes of every file; another seed gives others, under other names."""
    first, again = drawn_until(tmp_path / "a", 3, seed=4), drawn_until(tmp_path / "b", 3, seed=4)
    other = drawn_until(tmp_path / "c", 3, seed=5)
    # The exact number of pictures before a cancellation varies.
    drawn_twice = first.keys() & again.keys()
    assert len(drawn_twice) >= 3
    assert all(first[name] == again[name] for name in drawn_twice)
    assert not set(first.values()) & set(other.values())


@pytest.mark.slow
def test_drawing_twice_into_a_folder_replaces(tmp_path: Path) -> None:
    """The same arguments give the same collection, also over an earlier one."""
    one = draw_collection(tmp_path, images_per_class=1)
    before = {path.name: path.read_bytes() for path in tmp_path.rglob("*.*")}
    assert one == draw_collection(tmp_path, images_per_class=1)
    assert before == {path.name: path.read_bytes() for path in tmp_path.rglob("*.*")}


def test_the_shipped_sample_is_this_collection(collection: SampleCollection) -> None:
    """`assets/sample` has the same classes and number of pictures."""
    shipped = assets_folder() / "sample"
    assert (shipped / "edges.csv").read_bytes() == collection.edges_csv.read_bytes()
    orders = orders_of(images_per_class=11, seed=0)
    assert {order.path for order in orders} == {
        f"photos/{path.name}" for path in (shipped / "photos").iterdir()
    }
    assert rows_of(shipped / "shots.csv") == [
        (order.path, order.class_name) for order in orders if order.is_shot
    ]
    assert rows_of(shipped / "truth.csv") == [
        (order.path, order.class_name) for order in orders if not order.is_shot
    ]
    assert sum(path.stat().st_size for path in shipped.rglob("*.*")) <= 8_000_000


def test_cancel_stops_between_pictures(tmp_path: Path) -> None:
    """A cancelled drawing ends after the current picture and writes no tables."""
    pictures = drawn_until(tmp_path, 1, seed=0)
    assert 1 <= len(pictures) <= 10
    assert not list(tmp_path.glob("*.csv"))


def test_progress_ends_at_all_images(
    collection: SampleCollection, reported: list[Progress]
) -> None:
    """The last picture is reported."""
    assert (reported[0].done, reported[0].total) == (0, len(collection.images))
    assert (reported[-1].done, reported[-1].total) == (
        len(collection.images),
        len(collection.images),
    )


def test_a_file_in_the_way_is_named(tmp_path: Path) -> None:
    """A folder that cannot be created is a storage error with its path."""
    (tmp_path / "taken").write_text("no folder")
    with pytest.raises(StorageError, match="taken"):
        draw_collection(tmp_path / "taken")


@pytest.mark.parametrize(("images", "seed"), [(0, 0), (1, -1)])
def test_impossible_requests_are_refused(tmp_path: Path, images: int, seed: int) -> None:
    """Zero images of a class and a negative seed are refused before anything is written."""
    with pytest.raises(UsageError, match="seed"):
        draw_collection(tmp_path / "new", images_per_class=images, seed=seed)
    assert not (tmp_path / "new").exists()
