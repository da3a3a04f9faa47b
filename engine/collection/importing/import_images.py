"""Add images to a project: unlabelled, as shots of a class, or from folders of classes."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from engine.collection.importing.class_reading import ClassReader, PathSpelling
from engine.collection.importing.folder_choice import names_of_class
from engine.errors import AmbiguousClassError, GraphError
from engine.events import CancelToken, OnProgress, ignore_progress
from engine.files import FileFailure, FoundFile, FoundFiles, shown
from engine.graph.category_graph import CategoryGraph
from engine.graph.names import clean_name
from engine.images.find_images import FoundImages, ImageFolder
from engine.images.find_parts import each_part, find_images_and_parts
from engine.images.kinds import LeftOut
from engine.images.part_reader import EVERYTHING, PartsWanted
from engine.interchange.labelled_images.box_formats import refuse_boxes, refuse_data_set_folders
from engine.project import BackupReason, Change, Project
from engine.project.backups.keeping import MANY
from engine.project.records import NewItem
from engine.texts import Message, counted


@dataclass(frozen=True)
class ImageImport:
    """The result of an import."""

    change: Change  # one action
    added: int  # number of new images
    already_there: int  # number of others
    labelled: int  # number of images that got a label
    classes_added: int  # number of classes made from sub-folders
    # unreadable files and folders, and invalid names of classes
    failures: tuple[FileFailure, ...] = ()
    left_out: LeftOut = field(default_factory=LeftOut)  # files of other kinds in folders


def import_images(
    project: Project,
    paths: Sequence[Path],
    *,
    class_id: int | None = None,
    who: str | None = None,
    wanted: PartsWanted = EVERYTHING,
    on_progress: OnProgress = ignore_progress,
    cancel: CancelToken | None = None,
) -> ImageImport:
    """Find image files, also in folders, and add them.

    See `find_images_and_parts` and `add_found`.
    """
    found = find_images_and_parts(paths, wanted=wanted, on_progress=on_progress, cancel=cancel)
    return add_found(
        project, found, class_id=class_id, who=who, on_progress=on_progress, cancel=cancel
    )


def import_class_folders(
    project: Project,
    folders: Sequence[Path],
    *,
    under: int | None = None,
    who: str | None = None,
    wanted: PartsWanted = EVERYTHING,
    on_progress: OnProgress = ignore_progress,
    cancel: CancelToken | None = None,
) -> ImageImport:
    """Find images in folders whose sub-folders are classes, and add them.

    See `find_images_and_parts` and `add_class_folders`.
    """
    for folder in folders:
        refuse_boxes(folder)
    found = find_images_and_parts(folders, wanted=wanted, on_progress=on_progress, cancel=cancel)
    return add_class_folders(
        project, found, under=under, who=who, on_progress=on_progress, cancel=cancel
    )


def add_found(
    project: Project,
    found: FoundImages,
    *,
    class_id: int | None = None,
    who: str | None = None,
    on_progress: OnProgress = ignore_progress,
    cancel: CancelToken | None = None,
) -> ImageImport:
    """Add found images; with a class, unlabelled ones become its shots.

    Raises:
        Cancelled: nothing is added.
    """
    items, class_ids = _items(found, found.files, class_id)
    change = project.images.add_labelled(
        items, class_ids, who=who or "", on_progress=on_progress, cancel=cancel
    )
    return _imported(change, items, found)


def add_class_folders(
    project: Project,
    found: FoundImages,
    *,
    under: int | None = None,
    who: str | None = None,
    chosen: Collection[Path] | None = None,
    on_progress: OnProgress = ignore_progress,
    cancel: CancelToken | None = None,
) -> ImageImport:
    """Add images of folders whose sub-folders are classes; make missing classes.

    A sub-folder names a class by its path (Fruit/Apple/Gala). If the graph has neither that path
    nor the parent folder as a class, but one class of the folder's own name, it is that class. Else
    the name may be the source id ("n01440764") or a synonym of a known class, below the parent if
    that is a class. Images directly in a given folder stay unlabelled. A folder with an invalid or
    ambiguous name is a failure, and nothing in it is added.

    Args:
        under: parent of the classes of sub-folders; None for the top.
        who: annotator; by default the name of the folder.
        chosen: folders chosen as classes, whatever their names; images in others belong to the
            chosen folder above them, or stay unlabelled. By default all sub-folders are classes.

    Raises:
        StorageError: without chosen folders, a file was given.
        FormatError: without chosen folders, one is named as a part of a data set; nothing is added.
        GraphError: the classes are nested too deeply, or without chosen folders, the class list is
            locked and a folder is not a class of it; nothing is added.
        Cancelled: nothing is added.
    """
    takes_parts = chosen is not None
    groups, refused = _nameable(found.class_folders() if chosen is None else found.folders, chosen)
    count_before = len(project.classes.graph)
    spelling, before = (
        PathSpelling(project.classes.graph),
        ClassReader(project.classes.graph.copy()),
    )
    backup = BackupReason.IMPORT if sum(len(files) for _, files in groups) > MANY else None
    with project.history.one_step(backup=backup) as step:
        files, class_ids = list[FoundFile | NewItem](), list[int | None]()
        for names, of_folder in groups:
            try:
                class_id = _class_for(
                    project, spelling.spelled(names, under), under, before, takes_parts=takes_parts
                )
            except AmbiguousClassError as error:
                reason = Message(
                    "nothing in this folder was added, because {what}: {found}; "
                    "name it by the source id of one",
                    {"what": error.what, "found": error.found},
                )
                refused.append(FileFailure(of_folder[0].path.parent, reason))
            else:
                items, classes = _items(found, of_folder, class_id)
                files += items
                class_ids += classes
        if chosen is None and project.policies.is_locked:
            _refuse_new_classes(len(project.classes.graph) - count_before)
        change = project.images.add_labelled(
            files,
            class_ids,
            who=who or _names_of_roots(found),
            on_progress=on_progress,
            cancel=cancel,
        )
        step.action = change.action
    return replace(
        _imported(change, files, found),
        change=step.change,
        classes_added=len(project.classes.graph) - count_before,
        failures=(*found.failures, *refused),
    )


def _nameable(
    folders: Sequence[ImageFolder], chosen: Collection[Path] | None
) -> tuple[list[tuple[list[str], FoundFiles]], list[FileFailure]]:
    """Class names and images of each folder, and failures of folders with invalid names."""
    nameable = []
    refused: dict[Path, FileFailure] = {}
    for folder in folders:
        names: list[str] = []
        for name in folder.names if chosen is None else names_of_class(folder, chosen):
            try:
                names.append(clean_name(name))
            except GraphError as error:
                reason = Message(
                    "nothing in this folder was added, because it cannot name a class: {why}",
                    {"why": error.message},
                )
                path = next(
                    each for each in (folder.path, *folder.path.parents) if each.name == name
                )
                refused[path] = FileFailure(path, reason)
                break
        else:
            nameable.append((names, folder.files))
    return nameable, list(refused.values())


def _class_for(
    project: Project,
    names: Sequence[str],
    under: int | None,
    before: ClassReader,
    *,
    takes_parts: bool,
) -> int | None:
    """Find or make the class of a folder."""
    graph, parent, missing = project.classes.graph, under, list(names)
    while missing and (child := graph.child_named(parent, missing[0])) is not None:
        parent = child
        missing.pop(0)
    if missing:
        is_below_class = under is not None or 0 < len(names) - len(missing) == len(names) - 1
        meant = _known_class(graph, names[-1], parent if is_below_class else None, before)
        if meant is not None:
            return meant
    if not takes_parts:
        refuse_data_set_folders("/".join(names), missing)
    for name in missing:
        _, parent = project.classes.add(name, () if parent is None else (parent,))
    return parent


def _known_class(
    graph: CategoryGraph, name: str, above: int | None, before: ClassReader
) -> int | None:
    fitting = before.known_as(name)
    by_alias = [
        each
        for each in fitting
        if graph.name(each) != name and (above is None or above in graph.ancestors(each))
    ]
    if len(by_alias) > 1:
        return graph.find(name)  # raises, with the paths of all
    candidates = by_alias if above is not None else fitting
    return candidates[0] if len(candidates) == 1 else None


def _items(
    found: FoundImages, files: FoundFiles, class_id: int | None
) -> tuple[Sequence[FoundFile | NewItem], list[int | None]]:
    """The images in files, each with its class."""
    if not found.parts:
        return files, [class_id] * len(files)
    items = [NewItem(file, part) for file in files for part in each_part(found, file.path)]
    return items, [class_id] * len(items)


def _imported(
    change: Change, files: Sequence[FoundFile | NewItem], found: FoundImages
) -> ImageImport:
    added = len(change.images_added)
    already_there = len(files) - added
    return ImageImport(
        change, added, already_there, len(change.labelled), 0, tuple(found.failures), found.left_out
    )


def _names_of_roots(found: FoundImages) -> str:
    """`photos`, `photos and 2 more`: searched folders, as the annotator."""
    names = list(dict.fromkeys(shown(folder.root.name) for folder in found.folders))
    return f"{names[0]} and {len(names) - 1} more" if len(names) > 1 else "".join(names)


def _refuse_new_classes(added: int) -> None:
    if added:
        raise GraphError(
            "the class list is locked",
            expected="folders named like classes of the project",
            found="{classes} more",
            remedy="rename the folders, or unlock the list: protoleaf policy PROJECT --unlock; "
            "nothing was added",
            classes=counted(added, "class", "classes"),
        )
