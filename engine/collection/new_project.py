"""Make an empty project, or the sample project."""

import csv
import os
from contextlib import suppress
from pathlib import Path

from engine.collection.models import BUNDLED_NAME, find_model
from engine.config import PROJECT_SUFFIX, assets_folder
from engine.errors import InputError, ProjectExistsError, StorageError
from engine.events import CancelToken
from engine.files import FoundFile
from engine.full_disk import storage_error
from engine.graph.category_graph import CategoryGraph
from engine.graph.class_attributes import ClassAttributes
from engine.new_file import output_file, private_folder
from engine.project import Project
from engine.project.actions import action
from engine.project.file.on_disk import SIDE_SUFFIXES

MODEL_SUFFIX = ".onnx"
PROJECT_NAME = f"sample{PROJECT_SUFFIX}"
COLLECTION = "collection"
NAMES_NAME = "names.csv"  # table of classes and synonyms
# table of child and parent, parents first; roots have an empty parent
EDGES_NAME = "edges.csv"
SHOTS_NAME = "shots.csv"  # table of labelled image and class
# table of other images and their classes; empty for none of the classes
TRUTH_NAME = "truth.csv"


def new_project(path: Path, backbone: str = BUNDLED_NAME) -> Project:
    """Create an empty project file and open it.

    An ONNX file is tested and copied to the library first; else the backbone is a bundled one or
    one of the library.

    Raises:
        ProjectExistsError: the path is taken.
        StorageError: the folder is missing or not writable.
        ModelError: the backbone cannot be used.
        InputError: the name of an ONNX file is invalid, or taken in the library.
    """
    check_path_is_free(path)
    if is_file_source(backbone):
        # Trial images and child processes come with it: 8 MB that an open window does not need.
        from engine.backbones.trial import add_file

        model = add_file(Path(backbone)).files
    else:
        model = find_model(backbone)
    try:
        return Project.create(
            path,
            backbone_name=model.name,
            backbone_hash=model.backbone_hash,
            backbone_path="",
            propagation_hash=model.propagation_hash,
        )
    except StorageError:  # perhaps made, and then there was no room left to open it
        for suffix in ("", *SIDE_SUFFIXES):
            with suppress(OSError):
                path.with_name(path.name + suffix).unlink()
        raise


def is_file_source(backbone: str) -> bool:
    """Whether a backbone is given as a file, by its suffix or folder."""
    return backbone.lower().endswith(MODEL_SUFFIX) or Path(backbone).name != backbone


def check_path_is_free(path: Path) -> None:
    """Check that a project can be made at a path.

    Raises:
        ProjectExistsError: the path is taken.
        StorageError: the folder is missing.
    """
    if os.path.lexists(path):
        raise ProjectExistsError(
            "a file of this name is already there", found=str(path), remedy="choose another name"
        )
    if not path.absolute().parent.is_dir():
        raise StorageError(
            "the project's folder is missing",
            found=str(path.absolute().parent),
            remedy="make it or choose another",
        )


def project_path(folder: Path, name: str) -> Path:
    """Path of a project with a name, in a folder.

    Raises:
        InputError: the name is invalid for files.
        ProjectExistsError, StorageError: see `check_path_is_free`.
    """
    from engine.interchange.labelled_images.class_folders import safe_name

    if safe_name(name) != name:
        raise InputError(
            "a project cannot have this name",
            expected="a name that every file system takes, without any of {refused}",
            found=name,
            remedy="choose another name",
            refused='/ \\ : * ? " < > |',
        )
    path = folder / f"{name}{PROJECT_SUFFIX}"
    check_path_is_free(path)
    return path


def copy_sample_project(folder: Path, *, cancel: CancelToken | None = None) -> Path:
    """Copy the sample pictures to a folder and make a project of them; return its path.

    An existing one is returned as it is.

    Raises:
        StorageError: the folder is not writable.
        Cancelled: `cancel` was set.
    """
    path = folder / PROJECT_NAME
    if path.exists():
        return path
    try:
        private_folder(folder)
        sample = assets_folder() / "sample"
        for source in sorted(path for path in sample.rglob("*") if path.is_file()):
            (cancel or CancelToken()).raise_if_cancelled()
            target = folder / COLLECTION / source.relative_to(sample)
            target.parent.mkdir(parents=True, exist_ok=True)
            with output_file(target, durable=False) as file:
                file.write(source.read_bytes())
        partial = folder / f"making{PROJECT_SUFFIX}"
        partial.unlink(missing_ok=True)
        with new_project(partial) as project:
            fill_project(project, folder / COLLECTION)
        partial.rename(path)
    except OSError as error:
        remedy = "choose another folder or free some space"
        raise storage_error(
            folder, error, "the sample collection cannot be copied", remedy
        ) from error
    return path


def fill_project(project: Project, folder: Path) -> None:
    """Add the classes, images and labels of the tables of a folder."""
    ids: dict[str, int] = {}
    names: dict[str, list[str]] = {}
    for name, other in _rows(folder / NAMES_NAME) if (folder / NAMES_NAME).is_file() else ():
        names.setdefault(name, []).append(other)

    def add_classes(graph: CategoryGraph) -> None:
        for child, parent in _rows(folder / EDGES_NAME):
            if child in ids:
                graph.link(ids[parent], ids[child])
            else:
                attributes = ClassAttributes(synonyms=tuple(names.get(child, ())))
                ids[child] = graph.add_class(
                    child, (ids[parent],) if parent else (), attributes=attributes
                )

    project.classes.edit(add_classes, action("sample_classes_added"))
    class_of = dict(_rows(folder / SHOTS_NAME))
    files: list[FoundFile] = []
    labels: list[int | None] = []
    for image in sorted([*class_of, *(image for image, _ in _rows(folder / TRUTH_NAME))]):
        place = (folder / image).absolute()
        status = place.stat()
        files.append(FoundFile(place, status.st_size, status.st_mtime_ns))
        labels.append(ids[class_of[image]] if image in class_of else None)
    project.images.add_labelled(
        files, labels, who="Protoleaf", source="sample", called=action("sample_images_added")
    )


def _rows(table: Path) -> list[tuple[str, str]]:
    with table.open(encoding="utf-8", newline="") as file:
        return [(first, second) for first, second in csv.reader(file)][1:]
