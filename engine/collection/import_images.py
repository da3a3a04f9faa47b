"""Add images to a project: loose ones, shots of a class, or folders whose sub-folders are classes."""

import getpass
import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from engine.errors import GraphError
from engine.events import CancelToken, OnProgress, ProgressMeter, ignore_progress
from engine.files import FileFailure, FoundFile
from engine.graph.category_graph import CategoryGraph
from engine.graph.names import DEEPEST_LEVEL, clean_name
from engine.images.find_images import FoundImages, find_images, find_images_in_class_folders
from engine.images.left_out import LeftOut
from engine.project import Change, Project, Reason
from engine.project.backups.keeping import MANY


@dataclass(frozen=True)
class ImageImport:
    """What came of it.

    Attributes:
        change: the one undoable step.
        added: images that were not in the project before.
        already_there: images that were.
        labelled: images that got a person's label by this.
        classes_added: classes made from sub-folders.
        failures: files and folders that could not be looked at, and folders that cannot name a class.
        left_out: files of other kinds in folders.
    """

    change: Change
    added: int
    already_there: int
    labelled: int
    classes_added: int
    failures: tuple[FileFailure, ...] = ()
    left_out: LeftOut = field(default_factory=LeftOut)


def person() -> str:
    """Name of the person at this computer."""
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return "person"


def import_images(
    project: Project,
    paths: Sequence[Path],
    *,
    class_id: int | None = None,
    who: str | None = None,
    on_progress: OnProgress = ignore_progress,
    cancel: CancelToken | None = None,
) -> ImageImport:
    """Add image files and all images in folders; with a class they become its shots.

    An image that already has a person's label keeps it.

    Raises:
        StorageError: a path is not there.
        Cancelled: stopped before anything was added.
    """
    found = find_images(paths, on_progress=on_progress)
    if cancel is not None:
        cancel.raise_if_cancelled()
    labels = [class_id] * len(found.files)
    return _import(project, found.files, labels, who=who, found=found)


def import_class_folders(
    project: Project,
    folders: Sequence[Path],
    *,
    under: int | None = None,
    who: str | None = None,
    on_progress: OnProgress = ignore_progress,
    cancel: CancelToken | None = None,
) -> ImageImport:
    """Add images from folders whose sub-folders are classes; classes that are missing are made.

    A sub-folder names a class by its path (Fruit/Apple/Gala). Where the graph has neither that path nor the folder
    above as a class, but from before exactly one class of the folder's own name, that class is meant. Images directly
    in a given folder stay unlabelled. A folder whose name cannot be a class's is a failure, and nothing in it is added.

    Args:
        project: open for writing.
        folders: each one's sub-folders are classes.
        under: class that the sub-folders hang below; None for the top.
        who: the person; by default the one at this computer.
        on_progress: is told of files found.
        cancel: stops before anything is added.

    Raises:
        StorageError: a folder is not there.
        GraphError: folders nest too deeply; nothing is added.
        Cancelled: stopped before anything was added.
    """
    found = FoundImages()
    groups: list[tuple[list[str], list[FoundFile]]] = []
    meter = ProgressMeter(0, on_progress, unit="files")
    for folder in folders:
        in_folder = find_images_in_class_folders(folder, failures=found.failures, left_out=found.left_out)
        meter.advance(sum(len(group) for _, group in in_folder))
        groups += _nameable(Path(os.path.abspath(folder)), in_folder, found.failures)  # noqa: PTH100 (keeps links)
        if cancel is not None:
            cancel.raise_if_cancelled()
    found.files = [file for _, group in groups for file in group]
    known = frozenset(project.graph.classes())
    notice = _backed_up(project, len(found.files))
    with project.one_step(f"Import {len(found.files)} images from class folders") as step:
        labels: list[int | None] = []
        for names, group in groups:
            labels += [_class_for(project, names, under, known)] * len(group)
        done = _import(project, found.files, labels, who=who, found=found)
    change = replace(step.change, notice=notice)
    return replace(done, change=change, classes_added=len(project.graph) - len(known))


def _nameable(
    root: Path, groups: Sequence[tuple[tuple[str, ...], list[FoundFile]]], failures: list[FileFailure]
) -> list[tuple[list[str], list[FoundFile]]]:
    """Class names of each group of images; each folder that cannot name a class becomes one failure."""
    nameable = []
    refused: dict[tuple[str, ...], FileFailure] = {}
    for folders, group in groups:
        _refuse_pit(folders)
        names: list[str] = []
        for depth, folder in enumerate(folders, start=1):
            try:
                names.append(clean_name(folder))
            except GraphError as error:
                reason = f"nothing in this folder was added, because it cannot name a class: {error}"
                refused[folders[:depth]] = FileFailure(root.joinpath(*folders[:depth]), reason)
                break
        else:
            nameable.append((names, group))
    failures += refused.values()
    return nameable


def _refuse_pit(folders: Sequence[str]) -> None:
    if len(folders) > DEEPEST_LEVEL:
        raise GraphError(
            "the folders nest too deeply for classes",
            expected=f"at most {DEEPEST_LEVEL:,} folders within one another",
            found=f"{len(folders):,}",
            remedy="choose a folder further in",
        )


def _class_for(project: Project, names: Sequence[str], under: int | None, known: frozenset[int]) -> int | None:
    if not names:
        return under
    graph = project.graph
    is_below_class = len(names) > 1 and _path_exists(graph, names[:-1])
    if under is None and not is_below_class and not _path_exists(graph, names):
        fitting = known.intersection(graph.search(names[-1]))
        namesakes = [class_id for class_id in fitting if graph.name(class_id) == names[-1]]
        if len(namesakes) == 1:
            return namesakes[0]
    parent = under
    for name in names:
        match = graph.child_named(parent, name)
        parent = match if match is not None else project.add_class(name, () if parent is None else (parent,))[1]
    return parent


def _path_exists(graph: CategoryGraph, names: Sequence[str]) -> bool:
    parent: int | None = None
    for name in names:
        parent = graph.child_named(parent, name)
        if parent is None:
            return False
    return True


def _import(
    project: Project,
    files: Sequence[FoundFile],
    labels: Sequence[int | None],
    *,
    who: str | None,
    found: FoundImages,
) -> ImageImport:
    notice = _backed_up(project, sum(label is not None for label in labels))
    change = project.import_labelled(list(zip(files, labels, strict=True)), who=who or person())
    change = replace(change, notice=notice)
    added = len(change.images_added)
    return ImageImport(
        change, added, len(files) - added, len(change.labelled), 0, tuple(found.failures), found.left_out
    )


def _backed_up(project: Project, labels: int) -> str:
    """Make a backup before many labels come; see `Project.back_up_before`."""
    return project.back_up_before(Reason.IMPORT) if labels > MANY else ""
