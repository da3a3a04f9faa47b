"""Add images to a project: loose ones, shots of a class, or folders whose sub-folders are classes."""

import getpass
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from engine.errors import GraphError
from engine.events import CancelToken, OnProgress, ignore_progress
from engine.files import FileFailure, FoundFile
from engine.graph.category_graph import CategoryGraph
from engine.graph.names import DEEPEST_LEVEL, clean_name
from engine.images.find_images import FoundImages, ImageFolder, find_images
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
    """Find image files, also in folders, and add them; see `find_images` and `add_found`."""
    found = find_images(paths, on_progress=on_progress, cancel=cancel)
    return add_found(project, found, class_id=class_id, who=who)


def import_class_folders(
    project: Project,
    folders: Sequence[Path],
    *,
    under: int | None = None,
    who: str | None = None,
    on_progress: OnProgress = ignore_progress,
    cancel: CancelToken | None = None,
) -> ImageImport:
    """Find images in folders whose sub-folders are classes, and add them; see `find_images` and `add_class_folders`."""
    found = find_images(folders, on_progress=on_progress, cancel=cancel)
    return add_class_folders(project, found, under=under, who=who)


def add_found(
    project: Project, found: FoundImages, *, class_id: int | None = None, who: str | None = None
) -> ImageImport:
    """Add images that were found, without asking the disk about them again; with a class they become its shots.

    An image that already has a person's label keeps it.
    """
    return _import(project, [(file, class_id) for file in found.files], who=who, found=found)


def add_class_folders(
    project: Project, found: FoundImages, *, under: int | None = None, who: str | None = None
) -> ImageImport:
    """Add images that were found in folders whose sub-folders are classes; classes that are missing are made.

    A sub-folder names a class by its path (Fruit/Apple/Gala). Where the graph has neither that path nor the folder
    above as a class, but from before exactly one class of the folder's own name, that class is meant. Images directly
    in a given folder stay unlabelled. A folder whose name cannot be a class's is a failure, and nothing in it is added.

    Args:
        project: open for writing.
        found: in folders, each one's sub-folders are classes.
        under: class that the sub-folders hang below; None for the top.
        who: the person; by default the one at this computer.

    Raises:
        StorageError: a file was named, not a folder.
        GraphError: folders nest too deeply; nothing is added.
    """
    groups, refused = _nameable(found.class_folders())
    count = sum(len(files) for _, files in groups)
    known = frozenset(project.graph.classes())
    notice = _backed_up(project, count)
    with project.one_step(f"Import {count} images from class folders") as step:
        entries: list[tuple[FoundFile, int | None]] = []
        for names, files in groups:
            class_id = _class_for(project, names, under, known)
            entries += [(file, class_id) for file in files]
        done = _import(project, entries, who=who, found=found)
    return replace(
        done,
        change=replace(step.change, notice=notice),
        classes_added=len(project.graph) - len(known),
        failures=(*found.failures, *refused),
    )


def _nameable(folders: Sequence[ImageFolder]) -> tuple[list[tuple[list[str], list[FoundFile]]], list[FileFailure]]:
    """Class names and images of each folder, and one failure for each folder that cannot name a class."""
    nameable = []
    refused: dict[Path, FileFailure] = {}
    for folder in folders:
        _refuse_pit(folder.names)
        names: list[str] = []
        for depth, name in enumerate(folder.names, start=1):
            try:
                names.append(clean_name(name))
            except GraphError as error:
                reason = f"nothing in this folder was added, because it cannot name a class: {error}"
                path = folder.root.joinpath(*folder.names[:depth])
                refused[path] = FileFailure(path, reason)
                break
        else:
            nameable.append((names, folder.files))
    return nameable, list(refused.values())


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
    project: Project, entries: Sequence[tuple[FoundFile, int | None]], *, who: str | None, found: FoundImages
) -> ImageImport:
    notice = _backed_up(project, sum(label is not None for _, label in entries))
    change = replace(project.import_labelled(entries, who=who or person()), notice=notice)
    added = len(change.images_added)
    already_there = len(entries) - added
    return ImageImport(change, added, already_there, len(change.labelled), 0, tuple(found.failures), found.left_out)


def _backed_up(project: Project, labels: int) -> str:
    """Make a backup before many labels come; see `Project.back_up_before`."""
    return project.back_up_before(Reason.IMPORT) if labels > MANY else ""
