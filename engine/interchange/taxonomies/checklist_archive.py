"""Writer of checklists: a category graph as a Darwin Core archive of taxa and vernacular names.

Data without a term of the standard (a second parent, a colour, line breaks of a note) is JSON in
`dynamicProperties`, so that the graph is read back unchanged.
"""

import io
import json
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

from engine.graph.class_attributes import ATTRIBUTE, IN_FILES
from engine.graph.language_tags import split_language
from engine.interchange.archives import entry
from engine.interchange.file_package import ArchiveTable
from engine.interchange.imported import OURS, ImportedClass, ImportedGraph, own_ids
from engine.interchange.labelled_images.darwin_core_archive import (
    DARWIN_CORE,
    DUBLIN_CORE,
    META,
    add_table,
    darwin_core,
    meta_xml,
)

PROPERTIES = "protoleaf"  # the part of `dynamicProperties` that is ours
PARENTS = "parents"  # in it, the taxon ids of all parents where there are several
_ACCEPTED = "accepted"
_SYNONYM = "synonym"
_TAXA = ArchiveTable(
    DARWIN_CORE + "Taxon",
    "taxon.csv",
    dict(
        enumerate(
            darwin_core(
                "taxonID parentNameUsageID acceptedNameUsageID scientificName taxonRank "
                "taxonomicStatus taxonRemarks dynamicProperties"
            )
        )
    ),
)
_NAMES = ArchiveTable(
    "http://rs.gbif.org/terms/1.0/VernacularName",
    "vernacularname.csv",
    {
        1: DARWIN_CORE + "vernacularName",
        2: DUBLIN_CORE + "language",
        3: "http://rs.gbif.org/terms/1.0/isPreferredName",
    },
)
"""GBIF's extension for vernacular names; the first column is the taxon."""


def to_archive(graph: ImportedGraph, *, about: str) -> bytes:
    """Write a graph as an archive.

    Args:
        graph: the classes.
        about: comment of the archive.
    """
    ids, parents = own_ids(graph, str.isprintable), graph.parent_keys
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.comment = about.encode()
        archive.writestr(entry(META), meta_xml((_TAXA, _NAMES)))
        add_table(
            archive,
            _TAXA,
            (row for each in graph.classes for row in _taxon(each, ids, parents[each.key])),
        )
        add_table(
            archive, _NAMES, (row for each in graph.classes for row in _names(each, ids[each.key]))
        )
    return file.getvalue()


def _taxon(
    each: ImportedClass, ids: Mapping[str, str], parents: Sequence[str]
) -> Iterable[Sequence[str]]:
    """The row of a class, and those of its synonyms without a language."""
    attributes, own_id = each.attributes, ids[each.key]
    more = _properties(each, own_id, [ids[parent] for parent in parents])
    text = json.dumps({PROPERTIES: more}, ensure_ascii=False) if more else ""
    parent = ids[parents[0]] if parents else ""
    yield own_id, parent, "", each.name, attributes.rank, _ACCEPTED, attributes.note, text
    plain, _in_languages = _parted(attributes.synonyms)
    for number, synonym in enumerate(plain, start=1):
        yield f"{OURS}{each.key}:{_SYNONYM}:{number}", "", own_id, synonym, "", _SYNONYM, "", ""


def _properties(each: ImportedClass, own_id: str, parents: Sequence[str]) -> dict[str, Any]:
    """Attributes that the columns of the row cannot hold."""
    attributes = each.attributes
    held = {
        "source_id": "" if own_id.startswith(OURS) else own_id,
        "synonyms": tuple(chain(*_parted(attributes.synonyms))),
        "note": " ".join(attributes.note.split()),
        "rank": attributes.rank.casefold(),
    }
    values = {attribute.name: attribute.of(attributes) for attribute in IN_FILES}
    more = {
        name: value
        for name, value in values.items()
        if value != held.get(name, ATTRIBUTE[name].default)
    }
    return {**({PARENTS: list(parents)} if len(parents) > 1 else {}), **more}


def _names(each: ImportedClass, own_id: str) -> Iterable[Sequence[str]]:
    """Rows of its vernacular names, with the preferred one of each language marked."""
    languages = set[str]()
    for synonym in _parted(each.attributes.synonyms)[1]:
        name, language = split_language(synonym)
        yield own_id, name, language, "false" if language in languages else "true"
        languages.add(language)


def _parted(synonyms: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    """Split synonyms into those without and with a language, the first of each language first."""
    plain = [each for each in synonyms if not split_language(each)[1]]
    first = {split_language(each)[1]: each for each in reversed(synonyms)}
    tagged = [each for each in synonyms if split_language(each)[1]]
    return plain, sorted(tagged, key=lambda each: first[split_language(each)[1]] != each)
