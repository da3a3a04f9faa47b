"""Reader of checklists of several tables: Darwin Core and Catalogue of Life (ColDP)."""

import io
import re
import zipfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import Path, PurePosixPath

from engine.errors import FormatError
from engine.graph.language_tags import with_language
from engine.interchange import limits
from engine.interchange.archives import is_system_file
from engine.interchange.file_package import ArchiveTable, FilePackage, opened_package
from engine.interchange.imported import ImportedGraph, LeftOutItem, LeftOutReason
from engine.interchange.labelled_images.darwin_core_archive import META, tables_in
from engine.interchange.tables.dialects import TablePurpose
from engine.interchange.tables.read_table import SAMPLE_ROWS, Table, text_table
from engine.interchange.tables.recognise import Row, cell_at, recognised
from engine.interchange.tables.roles import Role, column_key
from engine.interchange.taxonomies import class_tables
from engine.interchange.taxonomies.taxon_graph import graph_of
from engine.interchange.taxonomy_file import Opening
from engine.interchange.text_file import decoded
from engine.texts import enumerated

_DESCRIPTION = "http://rs.tdwg.org/dwc/text/"  # the vocabulary of `meta.xml`
_TAXON = "taxon"  # row type of the core of a checklist
_VERNACULAR = "vernacularname"
_TABLE = re.compile(r"(?i)[^/]*\.(?:tsv|csv|txt)")
_TAXA = re.compile(r"(?i)(?:taxon|taxa|nameusage)\.(?:tsv|csv|txt)")
_IS_PREFERRED = ("ispreferredname", "preferred")


def read(source: Path, given: Mapping[str, str] | None = None) -> ImportedGraph:
    """Read a checklist: a table, an archive with or without `meta.xml`, or its folder.

    Raises:
        StorageError: it cannot be read.
        FormatError: there is no table of taxa, or one is invalid or too large.
    """
    if not source.is_dir() and not zipfile.is_zipfile(source):
        return class_tables.read(source, given)
    left_out: list[LeftOutItem] = []
    with opened_package(source, META, limits.TAXONOMY_BYTES) as package:
        tables = (_described if META in package.names else _named)(package, source.name, left_out)
        core = tables.core
        layout = recognised(core.columns, core.sample, TablePurpose.CLASSES, given, name=core.name)
        if Role.ID not in layout.columns and tables.reference is not None:
            layout = replace(layout, columns={**layout.columns, Role.ID: tables.reference})
        taxa = list(class_tables.taxa_of(core, layout, left_out, reference=tables.reference))
    return graph_of(taxa, source.name, left_out, tables.names)


@dataclass(frozen=True)
class _Tables:
    core: Table
    reference: int | None = None  # column of the core that other tables refer to
    names: Sequence[tuple[str, str]] = ()  # ids of classes, and vernacular names


def holds_taxa(names: Collection[str]) -> bool:
    """Whether files of an archive are those of a checklist: `meta.xml`, or a table of taxa."""
    own = [PurePosixPath(name).name for name in names if not is_system_file(name)]
    tables = [name for name in own if _TABLE.fullmatch(name)]
    return META in own or len(own) == len(tables) == 1 or any(map(_TAXA.fullmatch, tables))


def is_unpacked(folder: Path) -> bool:
    """Whether a folder is a checklist; folders of images may have tables, too."""
    names = [path.name for path in folder.iterdir() if path.is_file()]
    if any(map(_TAXA.fullmatch, names)):
        return True
    return META in names and _DESCRIPTION in Opening.of(folder / META).text


# -- Darwin Core


def _described(package: FilePackage, source_name: str, left_out: list[LeftOutItem]) -> _Tables:
    files = package.names
    core, *others = tables_in(package.data(META))
    if _kind(core.row_type) != _TAXON:
        raise FormatError(
            "{source_name} is not a checklist",
            expected="an archive whose core is Taxon",
            found=core.row_type,
            remedy="labels of occurrences come in by importing labels",
            source_name=source_name,
        )
    left_out += [
        LeftOutItem(LeftOutReason.NO_FILE, _kind(each.row_type))
        for each in others
        if each.file not in files
    ]
    names = [
        name
        for each in others
        if each.file in files and _kind(each.row_type) == _VERNACULAR
        for name in _names_in(_table(package, each), each.id_index)
    ]
    return _Tables(_table(package, core), core.id_index, names)


def _kind(row_type: str) -> str:
    return re.split(r"[/#:]", row_type)[-1].casefold()


def _table(package: FilePackage, described: ArchiveTable) -> Table:
    columns = [
        described.columns.get(at, "")
        for at in range(1 + max((described.id_index, *described.columns)))
    ]
    return _opened(described.file, columns, package.rows(described, is_strict=True))


def _opened(name: str, columns: Sequence[str], rows: Iterator[Row]) -> Table:
    sample = list(islice(rows, SAMPLE_ROWS))
    return Table(name, tuple(columns), chain(sample, rows), tuple(sample))


# -- packages without a description


def _named(package: FilePackage, source_name: str, _left_out: list[LeftOutItem]) -> _Tables:
    listed = (name for name in package.names if _TABLE.fullmatch(PurePosixPath(name).name))
    tables = {PurePosixPath(name).stem.casefold(): name for name in listed}
    taxa = [name for name in tables.values() if _TAXA.fullmatch(PurePosixPath(name).name)] or list(
        tables.values()
    )
    if len(taxa) != 1:
        raise FormatError(
            "{source_name} does not specify which of its files lists the taxa",
            expected="meta.xml, or one table such as Taxon.tsv",
            found=enumerated(taxa[:5]) or "no table",
            remedy="unpack it, and choose the table",
            source_name=source_name,
        )
    core = _by_header(package, taxa[0])
    if "nameid" in map(column_key, core.columns) and "name" in tables:
        synonyms = _by_header(package, tables["synonym"]) if "synonym" in tables else None
        core = _joined(core, _by_header(package, tables["name"]), synonyms)
    vernacular = _by_header(package, tables[_VERNACULAR]) if _VERNACULAR in tables else None
    return _Tables(core, names=[] if vernacular is None else list(_names_in(vernacular, None)))


def _by_header(package: FilePackage, name: str) -> Table:
    text = decoded(package.data(name, limits.TAXONOMY_BYTES), name).removeprefix("\ufeff")
    return text_table(iter(io.StringIO(text, newline="")), name, class_tables.is_class_table)


def _joined(taxa: Table, names: Table, synonyms: Table | None) -> Table:
    """Join taxa of Catalogue of Life with their names in another table, and append synonyms."""
    keys, name_keys = [*map(column_key, taxa.columns)], [*map(column_key, names.columns)]
    id_at = name_keys.index("id")
    added = [at for at, key in enumerate(name_keys) if key not in keys]
    row_of = {
        cells[id_at]: [cell_at(cells, at) for at in added]
        for _, cells in names.rows
        if id_at < len(cells)
    }
    columns = [*taxa.columns, *(names.columns[at] for at in added), "status of the name"]
    own, parent, name_id = (
        keys.index(key) if key in keys else 0 for key in ("id", "parentid", "nameid")
    )

    def rows() -> Iterator[Row]:
        for line, cells in taxa.rows:
            whole = [cell_at(cells, at) for at in range(len(keys))]
            yield line, [*whole, *row_of.get(whole[name_id], [""] * len(added)), ""]
        if synonyms is None:
            return
        synonym_keys = [*map(column_key, synonyms.columns)]
        for line, cells in synonyms.rows:
            facts = {key: cell_at(cells, at) for at, key in enumerate(synonym_keys)}
            whole = [""] * len(keys)
            whole[own], whole[parent] = facts.get("id", ""), facts.get("taxonid", "")
            yield line, [*whole, *row_of.get(facts.get("nameid", ""), [""] * len(added)), "synonym"]

    columns = [
        "status of the taxon" if column_key(each) == "status" else each for each in columns[:-1]
    ]
    return _opened(taxa.name, [*columns, "status"], rows())


# -- vernacular names


def _names_in(table: Table, reference: int | None) -> Iterator[tuple[str, str]]:
    """Ids of classes and their vernacular names, the preferred ones first."""
    keys = [column_key(each) for each in table.columns]
    places = {key: at for at, key in reversed(list(enumerate(keys)))}
    at = places.get("taxonid", places.get("id", 0)) if reference is None else reference
    name = places.get(_VERNACULAR, places.get("name", -1))
    language = places.get("language", -1)
    preferred = next((places[key] for key in _IS_PREFERRED if key in places), -1)
    rows = [cells for _, cells in table.rows]
    for cells in sorted(
        rows, key=lambda cells: preferred < 0 or cell_at(cells, preferred).casefold() != "true"
    ):
        if name >= 0:
            yield cell_at(cells, at), with_language(cell_at(cells, name), cell_at(cells, language))
