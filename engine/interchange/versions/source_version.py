"""A stored version of a source: the base of the three-way merge with its next version.

It distinguishes changes of the source from changes by the user.
"""

import base64
import binascii
import json
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from engine.errors import ProjectDamagedError
from engine.graph.category_graph import CategoryGraph, ClassId
from engine.graph.class_attributes import ATTRIBUTES, NO_ATTRIBUTES, ClassAttributes
from engine.interchange.imported import ImportedGraph

SAME_SOURCE = 0.5
"""Least share of the classes that two versions of one taxonomy have in common."""

_COMPARED = tuple(each.name for each in ATTRIBUTES if each.is_compared)
"""The source id, which came first, and further attributes."""
_LONGEST = 256 * 2**20  # bytes of a decompressed version; WordNet takes five million


@dataclass(frozen=True, slots=True)
class SourceClass:
    """A class of a source."""

    class_id: ClassId  # in the project, where it may have been renamed, moved or removed since
    name: str  # in the source
    attributes: ClassAttributes = NO_ATTRIBUTES  # the compared ones; see `compared`
    parents: frozenset[ClassId] = frozenset()  # in the source, as classes of the project

    @property
    def source_id(self) -> str:
        """The source's id; "" where it has none."""
        return self.attributes.source_id


@dataclass(frozen=True)
class SourceVersion:
    """One version of a source."""

    name: str  # of the file or folder
    classes: Mapping[ClassId, SourceClass]

    def similarity(self, imported: ImportedGraph) -> float:
        """Overlap of the classes by id or by name, as a share of the smaller version, 0..1."""
        theirs = imported.classes
        by_id = _overlap(self._ids, {each.attributes.source_id for each in theirs} - {""})
        names = {each.name for each in self.classes.values()}
        return max(by_id, _overlap(names, {each.name for each in theirs}))

    @property
    def _ids(self) -> set[str]:
        return {each.source_id for each in self.classes.values()} - {""}

    def completed_by(self, base: "SourceVersion | None") -> "SourceVersion":
        """This version with the classes that only an earlier one has."""
        if base is None:
            return self
        ids = self._ids
        older = {
            key: each
            for key, each in base.classes.items()
            if key not in self.classes and each.source_id not in ids
        }
        return SourceVersion(self.name, {**older, **self.classes})

    def packed(self) -> str:
        """Serialize as compressed text."""
        rows = [_row(each) for each in self.classes.values()]
        plain = json.dumps(
            {"name": self.name, "classes": rows}, ensure_ascii=False, separators=(",", ":")
        )
        return base64.b64encode(zlib.compress(plain.encode())).decode()


def unpacked(text: str) -> SourceVersion:
    """Deserialize a version; ProjectDamagedError if `SourceVersion.packed` did not write it."""
    try:
        unpacker = zlib.decompressobj()
        plain: Any = json.loads(
            unpacker.decompress(base64.b64decode(text, validate=True), _LONGEST)
        )
        rows = [
            SourceClass(
                int(class_id),
                str(name),
                _attributes(source_id, *others),
                frozenset(map(int, parents)),
            )
            for class_id, name, source_id, parents, *others in plain["classes"]
        ]
        return SourceVersion(str(plain["name"]), {each.class_id: each for each in rows})
    except (binascii.Error, zlib.error, ValueError, TypeError, KeyError, RecursionError) as error:
        raise ProjectDamagedError(
            "the last version of an imported taxonomy cannot be read",
            found=str(error),
            remedy="open an earlier copy of the file, or restore a backup",
        ) from error


def version_of(
    name: str, imported: ImportedGraph, class_ids: Mapping[str, ClassId]
) -> SourceVersion:
    """Make the version of a source.

    Args:
        name: of the file or folder.
        imported: its content.
        class_ids: class by key. Where two keys are one class, the first gives it its name.
    """
    parent_keys = imported.parent_keys
    classes: dict[ClassId, SourceClass] = {}
    for each in imported.classes:
        class_id = class_ids[each.key]
        parents = frozenset(class_ids[parent] for parent in parent_keys[each.key]) - {class_id}
        if (known := classes.get(class_id)) is not None:
            classes[class_id] = replace(known, parents=known.parents | parents)
        else:
            classes[class_id] = SourceClass(class_id, each.name, compared(each.attributes), parents)
    return SourceVersion(name, classes)


def version_in(graph: CategoryGraph) -> SourceVersion:
    """Make a version of a project's graph, for projects without a stored one."""
    return SourceVersion(
        "",
        {
            each: SourceClass(
                each,
                graph.name(each),
                compared(graph.attributes(each)),
                frozenset(graph.parents(each)),
            )
            for each in graph.classes()
        },
    )


def likely_base(versions: Iterable[SourceVersion], imported: ImportedGraph) -> SourceVersion | None:
    """The stored version that a source is most similar to; None if none is similar enough."""
    alike = [(each.similarity(imported), len(each.classes), each) for each in versions]
    close = [found for found in alike if found[0] >= SAME_SOURCE]
    return max(close, key=lambda found: found[:2])[2] if close else None


def compared(attributes: ClassAttributes) -> ClassAttributes:
    """Keep only the attributes that versions are compared by."""
    return ClassAttributes(**{name: getattr(attributes, name) for name in _COMPARED})


def _attributes(*texts: Any) -> ClassAttributes:
    values: dict[str, Any] = dict(zip(_COMPARED, map(str, texts), strict=False))
    return ClassAttributes(**values)


def _row(each: SourceClass) -> list[Any]:
    """A class as a list without trailing empty values."""
    source_id, *others = (getattr(each.attributes, name) for name in _COMPARED)
    while others and not others[-1]:
        others.pop()
    return [each.class_id, each.name, source_id, sorted(each.parents), *others]


def _overlap(known: set[str], others: set[str]) -> float:
    both = len(known & others)
    return both / min(len(known), len(others)) if both else 0.0
