"""One version of a source: the base of a three-way comparison with its next version.

Without it, changes of the source could not be distinguished from changes by the person.
"""

import base64
import binascii
import json
import zlib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from engine.errors import ProjectDamagedError
from engine.graph.category_graph import CategoryGraph, ClassId
from engine.graph.class_attributes import ATTRIBUTES, NO_ATTRIBUTES, ClassAttributes
from engine.interchange.imported import ImportedGraph

SAME_SOURCE: Final = 0.5
"""Share of the classes that two versions of one taxonomy have in common at least, of the smaller one."""

_COMPARED: Final = tuple(each.name for each in ATTRIBUTES if each.is_compared)
"""The source id, which came first, and further attributes."""
_LONGEST: Final = (
    256 * 2**20
)  # bytes of an unpacked version: WordNet's 82,115 classes take five million


@dataclass(frozen=True, slots=True)
class SourceClass:
    """A class of a source."""

    class_id: ClassId  # the class it became in the project, which may have been renamed, moved or removed there since
    name: str  # the source's name
    attributes: ClassAttributes = NO_ATTRIBUTES  # those that the comparison is about
    parents: frozenset[ClassId] = frozenset()  # the classes that its parents became

    @property
    def source_id(self) -> str:
        """The source's id; "" where it has none."""
        return self.attributes.source_id


@dataclass(frozen=True)
class SourceVersion:
    """One version of a source."""

    name: str  # of the file or folder
    classes: Mapping[ClassId, SourceClass]  # what it said, by class

    def similarity(self, imported: ImportedGraph) -> float:
        """Share of the classes that both have by id or by name, of the smaller one; 0 to 1."""
        ids = {each.source_id for each in self.classes.values() if each.source_id}
        names = {each.name for each in self.classes.values()}
        by_id = _share(
            ids,
            {each.attributes.source_id for each in imported.classes if each.attributes.source_id},
        )
        return max(by_id, _share(names, {each.name for each in imported.classes}))

    def beside(self, base: "SourceVersion | None") -> "SourceVersion":
        """This version, completed by the classes that only an earlier one has."""
        if base is None:
            return self
        ids = {each.source_id for each in self.classes.values() if each.source_id}
        older = {
            key: each
            for key, each in base.classes.items()
            if key not in self.classes and each.source_id not in ids
        }
        return SourceVersion(self.name, {**older, **self.classes})

    def packed(self) -> str:
        """The same as a short text."""
        rows = [_row(each) for each in self.classes.values()]
        plain = json.dumps(
            {"name": self.name, "classes": rows}, ensure_ascii=False, separators=(",", ":")
        )
        return base64.b64encode(zlib.compress(plain.encode())).decode()


def unpacked(text: str) -> SourceVersion:
    """The version that `SourceVersion.packed` wrote; ProjectDamagedError for another text."""
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
    """The version of a source.

    Args:
        name: of the file or folder.
        imported: its content.
        class_ids: the class that each of its keys became. Where two keys became one class, the first names it.
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


def version_in(graph: CategoryGraph, name: str = "") -> SourceVersion:
    """A project's graph as a version: for projects from before versions were remembered."""
    return SourceVersion(
        name,
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
    """The remembered version that a source is most likely a later one of; None when none is similar."""
    alike = [(each.similarity(imported), len(each.classes), each) for each in versions]
    close = [found for found in alike if found[0] >= SAME_SOURCE]
    return max(close, key=lambda found: found[:2])[2] if close else None


def compared(attributes: ClassAttributes) -> ClassAttributes:
    """The attributes that a comparison is about."""
    return ClassAttributes(**{name: getattr(attributes, name) for name in _COMPARED})


def _attributes(*texts: Any) -> ClassAttributes:
    values: dict[str, Any] = dict(zip(_COMPARED, map(str, texts), strict=False))
    return ClassAttributes(**values)


def _row(each: SourceClass) -> list[Any]:
    """As short as possible: empty values at the end are left out."""
    source_id, *others = (getattr(each.attributes, name) for name in _COMPARED)
    while others and not others[-1]:
        others.pop()
    return [each.class_id, each.name, source_id, sorted(each.parents), *others]


def _share(known: Collection[str], others: Collection[str]) -> float:
    both = len(set(known) & set(others))
    return both / min(len(known), len(others)) if both else 0.0
