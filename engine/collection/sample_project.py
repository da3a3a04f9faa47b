"""The sample project: pictures that ship with the program, their classes and a few labels."""

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from engine.collection.classify import classify
from engine.collection.embed import embed_closer, embed_project
from engine.collection.evaluate import Evaluation, evaluate
from engine.collection.new_project import new_project
from engine.config import PROJECT_SUFFIX, CacheFolders, assets_folder
from engine.events import CancelToken, OnProgress, ignore_progress
from engine.everyday.classifier import Setting
from engine.files import FoundFile
from engine.full_disk import storage_error
from engine.graph.category_graph import CategoryGraph
from engine.interchange.predictions_file import read_truth
from engine.new_file import output_file, private_folder
from engine.project import Project
from engine.project.actions import action

PROJECT_NAME: Final = f"sample{PROJECT_SUFFIX}"
COLLECTION: Final = "collection"
EDGES_NAME: Final = "edges.csv"
"""Table of child and parent, parents first; roots have an empty parent."""
SHOTS_NAME: Final = "shots.csv"
"""Table of labelled image and class."""
TRUTH_NAME: Final = "truth.csv"
"""Table of every other image and its class; empty where it shows none of the classes."""


def copy_sample_project(folder: Path, *, cancel: CancelToken | None = None) -> Path:
    """Copy the sample's pictures into `folder` and make a project of them; a project that is there stays.

    Returns:
        The project file. Its images are not embedded yet.

    Raises:
        StorageError: the folder cannot be written.
        Cancelled: `cancel` was set.
    """
    path = folder / PROJECT_NAME
    if path.exists():
        return path
    try:
        private_folder(folder)
        for source in sorted(_files(assets_folder() / "sample")):
            (cancel or CancelToken()).raise_if_cancelled()
            _copy(source, folder / COLLECTION / source.relative_to(assets_folder() / "sample"))
        partial = folder / f"making{PROJECT_SUFFIX}"
        partial.unlink(missing_ok=True)
        with new_project(partial) as project:
            fill_project(project, folder / COLLECTION)
        partial.rename(path)
    except OSError as error:
        remedy = "choose another folder or free some space"
        raise storage_error(folder, error, "the sample collection cannot be copied", remedy) from error
    return path


def make_sample_project(
    folder: Path,
    caches: CacheFolders,
    *,
    on_progress: OnProgress = ignore_progress,
    cancel: CancelToken | None = None,
) -> Path:
    """Copy the sample project when it is not there yet, and embed its images.

    Returns:
        The project file.
    """
    path = copy_sample_project(folder, cancel=cancel)
    with Project.open(path) as project:
        embed_project(project, caches, on_progress=on_progress, cancel=cancel)
        embed_closer(project, caches, on_progress=on_progress, cancel=cancel)
    return path


def fill_project(project: Project, folder: Path) -> None:
    """Add the classes, images and labels of a folder's three tables."""
    ids: dict[str, int] = {}

    def add_classes(graph: CategoryGraph) -> None:
        for child, parent in _rows(folder / EDGES_NAME):
            if child in ids:
                graph.link(ids[child], ids[parent])
            else:
                ids[child] = graph.add_class(child, (ids[parent],) if parent else ())

    project.classes.edit(add_classes, action("sample_classes_added"))
    class_of = dict(_rows(folder / SHOTS_NAME))
    entries = []
    for image in sorted([*class_of, *(image for image, _ in _rows(folder / TRUTH_NAME))]):
        place = (folder / image).absolute()
        status = place.stat()
        label = ids[class_of[image]] if image in class_of else None
        entries.append((FoundFile(place, status.st_size, status.st_mtime_ns), label))
    project.images.add_labelled(entries, who="Protoleaf", source="sample", called=action("sample_images_added"))


def evaluate_sample(path: Path, caches: CacheFolders) -> Evaluation:
    """Score the everyday model on the sample's images without a label."""
    with Project.open(path, for_writing=False) as project:
        answers = read_truth(path.parent / COLLECTION / TRUTH_NAME, project.classes.graph)
        return evaluate(project, classify(project, caches, Setting.PPN_PLUS), answers)


def _files(folder: Path) -> Iterator[Path]:
    return (path for path in folder.rglob("*") if path.is_file())


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    with output_file(target, durable=False) as file:
        file.write(source.read_bytes())


def _rows(table: Path) -> list[tuple[str, str]]:
    with table.open(encoding="utf-8", newline="") as file:
        return [(first, second) for first, second in csv.reader(file)][1:]
