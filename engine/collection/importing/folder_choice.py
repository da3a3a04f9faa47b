"""Choose folders of found images: which to add, and which are classes; read class lists."""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from engine.collection.importing.class_reading import ClassReader
from engine.errors import FormatError
from engine.graph.category_graph import CategoryGraph
from engine.graph.names import loose_name
from engine.images.find_images import FoundImages, ImageFolder
from engine.images.kinds import LeftOut
from engine.interchange.detect import read_graph
from engine.interchange.imported import ImportedGraph
from engine.interchange.labelled_images.box_formats import data_set_folders
from engine.interchange.limits import TAXONOMY_BYTES
from engine.interchange.tables.dialects import TablePurpose
from engine.interchange.tables.read_table import ColumnPreview, preview_columns
from engine.interchange.taxonomies.name_list import read_lines


@dataclass(frozen=True, slots=True)
class FoundFolder:
    """A folder with images at or below it, or the folder of single files."""

    path: Path
    depth: int  # 0 for a folder that was searched
    own: int  # number of images in it
    below: int = 0  # number of images in its sub-folders

    @property
    def images(self) -> int:
        return self.own + self.below


def found_folders(found: FoundImages) -> tuple[FoundFolder, ...]:
    """Folders with images and their parents, up to the searched ones, in preorder."""
    own, below, depths = Counter[Path](), Counter[Path](), dict[Path, int]()
    for folder in found.folders:
        chain = _chain(folder)
        for depth, path in enumerate(chain):
            depths.setdefault(path, depth)
        own[chain[-1]] += len(folder.files)
        below.update(dict.fromkeys(chain[:-1], len(folder.files)))
    return tuple(FoundFolder(path, depth, own[path], below[path]) for path, depth in depths.items())


def merged(found: Sequence[FoundImages]) -> FoundImages:
    """Merge several searches."""
    left_out = LeftOut()
    for each in found:
        left_out.kinds.update(each.left_out.kinds)
        left_out.others += each.left_out.others
        left_out.raw_doubles += each.left_out.raw_doubles
    return FoundImages(
        [folder for each in found for folder in each.folders],
        [path for each in found for path in each.named],
        [failure for each in found for failure in each.failures],
        left_out,
        {path: parts for each in found for path, parts in each.parts.items()},
    )


def without_folders(found: FoundImages, left_out: Collection[Path]) -> FoundImages:
    """Drop the images directly in these folders."""
    return replace(
        found, folders=[folder for folder in found.folders if folder.path not in left_out]
    )


def names_of_class(folder: ImageFolder, chosen: Collection[Path]) -> tuple[str, ...]:
    """Path of a folder's class: names of the chosen folders down to it; () for none."""
    return tuple(path.name for path in _chain(folder) if path in chosen)


def all_class_folders(folders: Sequence[FoundFolder]) -> frozenset[Path]:
    """Every folder that may be a class: all but searched folders with sub-folders."""
    above = {each.path for each in folders if each.depth == 0 and each.below}
    return frozenset(each.path for each in folders if each.path not in above)


def known_class_folders(graph: CategoryGraph, folders: Sequence[FoundFolder]) -> frozenset[Path]:
    """Folders with the name of exactly one class of a graph."""
    reader = ClassReader(graph)
    return folders_called(folders, lambda name: len(reader.known_as(name)) == 1)


def folders_called(
    folders: Sequence[FoundFolder], is_class: Callable[[str], bool]
) -> frozenset[Path]:
    """Folders with names of classes, without those of parts of data sets."""
    parts = frozenset(data_set_folders(each.path.name for each in folders))
    return frozenset(
        each.path for each in folders if each.path.name not in parts and is_class(each.path.name)
    )


def _chain(folder: ImageFolder) -> list[Path]:
    """Folders from the searched one down to this one."""
    chain = [folder.root]
    for name in folder.names:
        chain.append(chain[-1] / name)
    return chain


@dataclass(frozen=True)
class ClassList:
    """A class list for a new project.

    Attributes:
        source: the file or folder; the title of a text.
        imported: its classes; None for a table with unclear columns.
        columns: of a table.
    """

    source: Path
    imported: ImportedGraph | None
    columns: ColumnPreview | None = None

    @property
    def count(self) -> int:
        return 0 if self.imported is None else len(self.imported.classes)

    @property
    def levels(self) -> int:
        """Number of levels: one more than the edges of the longest path."""
        if self.imported is None:
            return 0
        level: dict[str, int] = {}
        for key in self.imported.parents_first:
            level[key] = 1 + max(
                (level[parent] for parent in self.imported.parent_keys[key]), default=0
            )
        return max(level.values(), default=0)

    @cached_property
    def _loose_names(self) -> frozenset[str]:
        return (
            frozenset(loose_name(each.name) for each in self.imported.classes)
            if self.imported
            else frozenset()
        )

    def known_folders(self, folders: Sequence[FoundFolder]) -> frozenset[Path]:
        """Folders with the name of a class."""
        return folders_called(folders, lambda name: loose_name(name) in self._loose_names)

    def top_names(self, most: int) -> tuple[str, ...]:
        """Names of the first classes without a parent."""
        if self.imported is None:
            return ()
        parents = self.imported.parent_keys
        return tuple(each.name for each in self.imported.classes if not parents[each.key])[:most]


def read_class_list(source: Path, columns: Mapping[str, str]) -> ClassList:
    """Read a file or folder.

    Args:
        columns: of a table by role, as chosen by a person.

    Raises:
        FormatError, StorageError: it cannot be read, other than a table with unclear columns.
    """
    try:
        imported = read_graph(source, columns=columns)
    except FormatError:
        found = preview_columns(source, TablePurpose.CLASSES, columns)
        if found is None or found.is_clear or not found.rows:
            raise
        return ClassList(source, None, found)
    return ClassList(source, imported, preview_columns(source, TablePurpose.CLASSES, columns))


def read_class_text(text: str, title: str) -> ClassList:
    """Read typed or pasted names, one a line; indentation means below.

    Raises:
        FormatError: it is not a class list.
    """
    TAXONOMY_BYTES.check(len(text), title)
    return ClassList(Path(title), read_lines(enumerate(text.splitlines(), start=1), title))
