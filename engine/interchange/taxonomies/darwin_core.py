"""Checklists in Darwin Core, as GBIF, Catalogue of Life and museums publish them: tables of taxa, zipped or not.

A taxon becomes a class named by its scientific name without the authors; the whole name, its synonyms and its names in
people's languages, with these, are synonyms of the class, the taxonID is its source id, remarks are its note. Parents
are those of `parentNameUsageID`; a table without gets them from its columns of ranks, from kingdom to genus.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, final

from engine.errors import FormatError
from engine.graph.class_attributes import ATTRIBUTE, IN_FILES
from engine.graph.language_tags import with_language
from engine.graph.names import join_path
from engine.interchange.imported import ImportedClass, ImportedGraph, attributes_at, clean_name_at, disambiguated
from engine.interchange.taxonomies.checklist_archive import OURS, PARENTS, PROPERTIES
from engine.interchange.taxonomies.darwin_core_tables import NAME, TaxonRow, checklist, has_taxon_header, holds_taxa
from engine.interchange.taxonomy_file import Opening
from engine.texts import marked

IDS: Final = ("taxonid", "taxonkey", "id", "")
"""Columns that may hold a taxon's id, the standard's own first; "" is the id that ties the tables of an archive."""
PARENT: Final = "parentnameusageid"
_PROPERTIES: Final = "dynamicproperties"
ACCEPTED: Final = ("acceptednameusageid", "acceptedtaxonkey")
RANKS: Final = (
    "kingdom", "phylum", "class", "order", "superfamily", "family", "subfamily", "tribe", "subtribe", "genus",
    "subgenus",
)  # fmt: skip
"""Columns that name the taxa above, the highest first."""


@dataclass
class _Taxon:
    key: str
    taxon_id: str
    source_id: str
    name: str
    place: str
    parents: tuple[str, ...]
    attributes: dict[str, Any] = field(default_factory=dict)
    synonyms: list[str] = field(default_factory=list)


def read(source: Path) -> ImportedGraph:
    """Read a checklist: a table with a header; an archive with or without `meta.xml`; or its folder.

    The key is the taxonID, or the path of a taxon without a row of its own. In an extract a single parent may be
    missing:
    then the taxa below it are at the top.
    """
    tables = checklist(source)
    taxa = _by_parents(tables.taxa) if any(PARENT in row.cells for row in tables.taxa) else _by_ranks(tables.taxa)
    by_id = {taxon.taxon_id: taxon for taxon in taxa.values() if taxon.taxon_id}
    for row in sorted(tables.vernacular, key=lambda row: row.cells.get("ispreferredname", "").casefold() != "true"):
        taxon = by_id.get(row.cells.get("", ""))
        if taxon is not None:
            taxon.synonyms.append(_in_its_language(row.cells.get("vernacularname", ""), row))
    edges = tuple((parent, taxon.key) for taxon in taxa.values() for parent in taxon.parents)
    names = {key: taxon.name for key, taxon in taxa.items()}

    def class_of(key: str, name: str) -> ImportedClass:
        taxon = taxa[key]
        synonyms = tuple(filter(None, taxon.synonyms))
        attributes = attributes_at(
            taxon.place or key, name, source_id=taxon.source_id, synonyms=synonyms, **taxon.attributes
        )
        return ImportedClass(key, name, attributes)

    return disambiguated(names, edges, source.name, class_of, id_of=lambda key: taxa[key].source_id or key)


def fits(opening: Opening) -> bool:
    """Whether a file is a checklist: by its header, or by the files in an archive."""
    if opening.members:
        return holds_taxa(opening.members)
    return has_taxon_header(opening.first_line)


# -- with parents


def _by_parents(rows: Sequence[TaxonRow]) -> dict[str, _Taxon]:
    row_of: dict[str, TaxonRow] = {}
    for row in rows:
        key = _id(row)
        if not key:
            raise FormatError(
                "{place} has no taxonID", found=row.cells.get(NAME, marked("no name either")), place=row.place
            )
        if key in row_of:
            raise _repeated(row, key)
        row_of[key] = row
    accepted = _Accepted(row_of)
    parent_of = {key: accepted.key(row.cells.get(PARENT, "")) for key, row in row_of.items() if accepted.is_one(key)}
    parent_of = _without_what_is_cut_off(parent_of, row_of)
    taxa = {
        key: _taxon(row_of[key], key, _all_parents(row_of[key], parent, parent_of)) for key, parent in parent_of.items()
    }
    for key, row in row_of.items():
        if key not in taxa and (taxon := taxa.get(accepted.key(key))) is not None:
            taxon.synonyms += [_name(row), *_vernacular(row)]
    return taxa


def _all_parents(row: TaxonRow, parent: str, there: Collection[str]) -> tuple[str, ...]:
    """The parent, or the several of a class in our own archives."""
    several = (each for each in _properties(row).get(PARENTS, ()) if each in there)
    return tuple(dict.fromkeys(several)) or ((parent,) if parent else ())


@final
class _Accepted:
    def __init__(self, row_of: Mapping[str, TaxonRow]) -> None:
        self._row_of = row_of

    def is_one(self, key: str) -> bool:
        """Whether this is an accepted taxon."""
        return not self._other(key) and "synonym" not in self._row_of[key].cells.get("taxonomicstatus", "").casefold()

    def key(self, key: str) -> str:
        """The key of the accepted taxon; of synonyms in a circle, one of them."""
        seen = {key}
        while (other := self._other(key)) and other not in seen:
            seen.add(other)
            key = other
        return key

    def _other(self, key: str) -> str:
        row = self._row_of.get(key)
        other = next((row.cells[column] for column in ACCEPTED if column in row.cells), "") if row else ""
        return "" if other == key else other


def _without_what_is_cut_off(parent_of: Mapping[str, str], row_of: Mapping[str, TaxonRow]) -> dict[str, str]:
    """The parents, of which one may be missing: what an extract was taken from."""
    missing: dict[str, str] = {}
    for key, parent in parent_of.items():
        if parent and parent not in parent_of:
            missing.setdefault(parent, key)
    if len(missing) > 1:
        parent, key = next(iter(missing.items()))
        raise FormatError(
            '{other_place} names the parent "{parent}", which has no row',
            found="{missing:,} such parents",
            remedy="add their rows, or take an extract of one taxon with all that is below it",
            other_place=row_of[key].place,
            parent=parent,
            missing=len(missing),
        )
    return {key: "" if parent in missing else parent for key, parent in parent_of.items()}


# -- with ranks


def _by_ranks(rows: Sequence[TaxonRow]) -> dict[str, _Taxon]:
    taxa: dict[str, _Taxon] = {}
    by_id: dict[str, _Taxon] = {}
    others: list[tuple[str, TaxonRow]] = []
    for row in rows:
        own_id = _id(row)
        accepted = next((row.cells[column] for column in ACCEPTED if column in row.cells), own_id)
        if accepted != own_id:
            others.append((accepted, row))
            continue
        if own_id and own_id in by_id:
            raise _repeated(row, own_id)
        path, ranks_above = _path(row)
        key = join_path(path)
        if key in taxa and taxa[key].taxon_id not in {"", own_id}:
            key = f"{key} ({own_id})"
        elif key in taxa and taxa[key].place:
            raise FormatError("{place} has the taxon of an earlier row", found=key, place=row.place)
        _add_above(taxa, path[:-1], ranks_above)
        taxa[key] = _taxon(row, key, (join_path(path[:-1]),) if path[1:] else ())
        by_id[own_id] = taxa[key]
    for accepted, row in others:
        if accepted in by_id:
            by_id[accepted].synonyms += [_name(row), *_vernacular(row)]
    return taxa


def _path(row: TaxonRow) -> tuple[tuple[str, ...], list[str]]:
    """Names from the kingdom down to the taxon's own, and the ranks of those above."""
    name = clean_name_at(row.place, _name(row))
    own_rank = row.cells.get("taxonrank", "").casefold()
    above = RANKS[: RANKS.index(own_rank)] if own_rank in RANKS else RANKS
    ranks = [rank for rank in above if rank in row.cells]
    names = [clean_name_at(row.place, row.cells[rank]) for rank in ranks]
    return (*names, name) if not names or names[-1] != name else tuple(names), ranks


def _add_above(taxa: dict[str, _Taxon], path: tuple[str, ...], ranks: Sequence[str]) -> None:
    """Taxa that rows name above them, and that have no row so far."""
    for length, rank in zip(range(1, len(path) + 1), ranks, strict=False):
        key, parents = join_path(path[:length]), (join_path(path[: length - 1]),) if length > 1 else ()
        taxa.setdefault(key, _Taxon(key, "", "", path[length - 1], "", parents, {"rank": rank}))


# -- both


def _repeated(row: TaxonRow, key: str) -> FormatError:
    return FormatError(
        "{place} has the taxonID of an earlier row", found=key, remedy="give it its own", place=row.place
    )


def _id(row: TaxonRow) -> str:
    return next((row.cells[column] for column in IDS if column in row.cells), "")


def _name(row: TaxonRow) -> str:
    whole = row.cells.get(NAME, "")
    if "canonicalname" in row.cells or not whole:
        return row.cells.get("canonicalname", whole)
    return whole.removesuffix(row.cells.get("scientificnameauthorship", "")).strip() or whole


def _taxon(row: TaxonRow, key: str, parents: tuple[str, ...]) -> _Taxon:
    name = clean_name_at(row.place, _name(row))
    attributes = {each.name: row.cells.get(term.casefold(), "") for each in IN_FILES for term in each.darwin_core}
    attributes["rank"] = attributes["rank"].casefold()
    own_id = _id(row)
    given: dict[str, Any] = {"source_id": "" if own_id.startswith(OURS) else own_id, **attributes, **_properties(row)}
    given.pop(PARENTS, None)
    whole = row.cells.get(NAME, "")
    synonyms = [*given.pop("synonyms", ()), whole if whole != name else "", *_vernacular(row)]
    return _Taxon(key, own_id, given.pop("source_id"), name, row.place, parents, given, synonyms)


def _properties(row: TaxonRow) -> Mapping[str, Any]:
    """What our own archives keep of a taxon besides the terms of the standard."""
    if PROPERTIES not in row.cells.get(_PROPERTIES, ""):
        return {}
    with suppress(ValueError, AttributeError, TypeError, RecursionError):
        found = json.loads(row.cells[_PROPERTIES]).get(PROPERTIES, {})
        kept = {
            each.name: found[each.name] for each in IN_FILES if each.name in found and each.accepts(found[each.name])
        }
        if ATTRIBUTE["synonyms"].accepts(found.get(PARENTS)):
            kept[PARENTS] = found[PARENTS]
        return kept
    return {}


def _vernacular(row: TaxonRow) -> list[str]:
    """Vernacular names in the table of taxa; a cell may hold several."""
    return [_in_its_language(part, row) for part in row.cells.get("vernacularname", "").split("|")]


def _in_its_language(name: str, row: TaxonRow) -> str:
    return with_language(name.strip(), row.cells.get("language", ""))
