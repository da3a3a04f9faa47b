"""Reader of folder trees: Fruit/Apple/Granny-Smith are three nested classes.

The source itself and files are not classes. Hidden folders (with a dot, or of the operating system)
are skipped, and so are folders with nothing but hidden files.
"""

import os
from pathlib import Path

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

SYSTEM_NAMES = frozenset({"thumbs.db", "desktop.ini", "__macosx", "$recycle.bin", "@eadir"})


def read(source: Path) -> ImportedGraph:
    """Read the folders in `source`, following links except in cycles; the keys are paths."""
    if source.is_file():
        raise FormatError(
            "{source} is a file",
            expected="a folder",
            remedy="choose the folder around it",
            source=source.name,
        )
    place = f'the folder "{source.name}"'
    classes: dict[str, ImportedClass] = {}
    edges: dict[Edge, None] = {}
    pending: list[tuple[Path, tuple[str, ...], frozenset[str]]] = [(source, (), frozenset())]
    while pending:
        folder, names, seen = pending.pop()
        check_level(len(names) - 1, place)  # before more folders are listed, which takes minutes
        seen |= {os.path.realpath(folder)}
        for child in _class_folders(folder, seen):
            path = (*names, clean_name_at(f'the folder "{child.name!a}"', child.name))
            key = join_path(path)
            classes[key] = ImportedClass(key, path[-1])
            if names:
                edges[join_path(names), key] = None
            pending.append((child, path, seen))
    return checked(classes.values(), edges, place)


def _class_folders(folder: Path, seen: frozenset[str]) -> list[Path]:
    """Folders that are classes; `seen` are the real paths of their ancestors, against cycles."""
    found = []
    for each in _visible_entries(folder)[0]:
        if each.is_dir() and os.path.realpath(each) not in seen:
            visible, count = _visible_entries(each)
            found += [each] if visible or not count else []
    return found


def _visible_entries(folder: Path) -> tuple[list[Path], int]:
    """The visible entries of a folder, sorted, and the number of all entries."""
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
