"""Import of a folder tree: Fruit/Apple/Granny-Smith are three classes, each under the one before.

The outermost folder is only the place, not a class. Files are not classes. Hidden folders (a name that begins with a
dot, or one that operating systems use for themselves) are passed over, and so are folders that hold nothing
but hidden files, such as file browsers leave behind.
"""

import os
from pathlib import Path
from typing import Final

from engine.errors import FormatError, StorageError, reason_of
from engine.graph.names import join_path
from engine.interchange.imported import (
    Edge,
    ImportedClass,
    ImportedGraph,
    check_level,
    checked,
    clean_name_at,
)

SYSTEM_NAMES: Final = frozenset({"thumbs.db", "desktop.ini", "__macosx", "$recycle.bin", "@eadir"})


def read(source: Path) -> ImportedGraph:
    """Read the folders below `source`; links to folders are followed, but not in circles. The keys are paths."""
    if source.is_file():
        raise FormatError(
            "{source} is a file",
            expected="a folder",
            remedy="choose the folder around it",
            source=source.name,
        )
    classes: dict[str, ImportedClass] = {}
    edges: dict[Edge, None] = {}
    waiting: list[tuple[Path, tuple[str, ...], frozenset[str]]] = [(source, (), frozenset())]
    while waiting:
        folder, names, seen = waiting.pop()
        check_level(
            len(names) - 1, f'the folder "{source.name}"'
        )  # now: looking at all of a pit takes minutes
        seen |= {os.path.realpath(folder)}
        for child in _class_folders(folder, seen):
            path = (*names, clean_name_at(f'the folder "{child.name!a}"', child.name))
            key = join_path(path)
            classes[key] = ImportedClass(key, path[-1])
            if names:
                edges[join_path(names), key] = None
            waiting.append((child, path, seen))
    return checked(classes.values(), edges, f'the folder "{source.name}"')


def _class_folders(folder: Path, seen: frozenset[str]) -> list[Path]:
    """Folders in a folder that are classes; `seen` are the real paths above, where a link would lead in a circle."""
    found = [
        each
        for each in _visible_entries(folder)[0]
        if each.is_dir() and os.path.realpath(each) not in seen
    ]
    contents = [_visible_entries(each) for each in found]
    return [
        each for each, (visible, count) in zip(found, contents, strict=True) if visible or not count
    ]


def _visible_entries(folder: Path) -> tuple[list[Path], int]:
    """What is not hidden in a folder, in order, and how many entries it has in all."""
    try:
        entries = sorted(folder.iterdir())
    except OSError as error:
        what, remedy = 'the folder "{folder}" cannot be read', "check the path"
        raise StorageError(what, found=reason_of(error), remedy=remedy, folder=folder) from error
    shown = [
        each
        for each in entries
        if not each.name.startswith(".") and each.name.casefold() not in SYSTEM_NAMES
    ]
    return shown, len(entries)
