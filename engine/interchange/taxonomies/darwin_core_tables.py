"""The tables of a Darwin Core checklist: one file, an archive, or the folder that an archive was unpacked into."""

import re
import zipfile
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from engine.errors import FormatError
from engine.interchange.archives import file_within, opened_archive, reading, small_member
from engine.interchange.labelled_images.darwin_core_archive import META, Table, tables_in
from engine.interchange.taxonomy_file import LARGEST_TAXONOMY_BYTES, Opening, check_size, table_cells, taxonomy_bytes
from engine.interchange.text_file import decoded
from engine.texts import enumerated, line_of

NAME: Final = "scientificname"
_BESIDE: Final = frozenset(
    {"taxonid", "taxonkey", "parentnameusageid", "acceptednameusageid", "taxonrank", "kingdom", "family", "genus"}
)
"""A table with one of these columns beside the name is one of taxa."""
_DESCRIPTION: Final = "http://rs.tdwg.org/dwc/text/"  # the vocabulary of `meta.xml`
_TAXON: Final = "Taxon"
_VERNACULAR: Final = "VernacularName"
_SEPARATORS: Final = ("\t", ",", ";", "|")
_TABLE_FILE: Final = re.compile(r"(?i)(?:.*/)?[^/]*\.(?:tsv|csv|txt)")
_TAXON_FILE: Final = re.compile(r"(?i)(?:.*/)?taxon\.(?:tsv|csv|txt)")
_PREFIX: Final = re.compile(r".*[/#:]")
_ENCODINGS: Final = frozenset({"", "utf-8", "utf8"})


@dataclass(frozen=True)
class TaxonRow:
    """A row of a table."""

    place: str  # where it stands, for errors
    cells: Mapping[str, str]
    """By term, in small letters and without its vocabulary; only those that are not empty. The id by which tables
    belong together is under ""."""


@dataclass(frozen=True)
class Checklist:
    """The tables of a checklist."""

    taxa: tuple[TaxonRow, ...]  # its rows
    vernacular: tuple[TaxonRow, ...] = ()  # rows of names in the languages of people; () where there is no such table


def checklist(source: Path) -> Checklist:
    """Read the tables of a file with a header; of an archive with or without `meta.xml`; or of its folder.

    Raises:
        StorageError: it cannot be read.
        FormatError: there is no table of taxa, or one is broken or too large.
    """
    if not source.is_dir() and not zipfile.is_zipfile(source):
        return Checklist(tuple(_rows_by_header(decoded(taxonomy_bytes(source), source.name), source.name)))
    with _members(source) as (names, content):
        if META in names:
            return _described(tables_in(content(META)), content, source.name)
        taxa = _table_of_taxa(names, source.name)
        return Checklist(tuple(_rows_by_header(decoded(content(taxa), taxa), taxa)))


def has_taxon_header(first_line: str) -> bool:
    """Whether a line of text is the header of a table of taxa."""
    return _separator(first_line) is not None


def holds_taxa(names: Collection[str]) -> bool:
    """Whether an archive with these files may be a checklist: one with `meta.xml`, or with a single table."""
    tables = [name for name in names if _TABLE_FILE.fullmatch(name)]
    return META in names or len(names) == len(tables) == 1 or any(map(_TAXON_FILE.fullmatch, tables))


def is_unpacked(folder: Path) -> bool:
    """Whether a folder is a checklist; one of images may hold tables and descriptions of its own."""
    names = [path.name for path in folder.iterdir() if path.is_file()]
    if any(map(_TAXON_FILE.fullmatch, names)):
        return True
    return META in names and _DESCRIPTION in Opening.of(folder / META).text


@contextmanager
def _members(source: Path) -> Iterator[tuple[tuple[str, ...], Callable[[str], bytes]]]:
    """The files of an archive or folder, and what reads one of them."""
    if source.is_dir():
        yield (
            tuple(sorted(path.name for path in source.iterdir() if path.is_file())),
            lambda name: taxonomy_bytes(file_within(source, name, META)),
        )
        return
    with reading(source, "{source} is no archive that can be read"), opened_archive(source) as archive:

        def content(name: str) -> bytes:
            check_size(archive.getinfo(name).file_size, name)
            return small_member(archive, name, LARGEST_TAXONOMY_BYTES)

        yield tuple(archive.namelist()), content


def _described(tables: list[Table], content: Callable[[str], bytes], source_name: str) -> Checklist:
    core, *others = tables
    if not core.row_type.endswith(_TAXON):
        raise FormatError(
            "{source_name} is no checklist",
            expected="an archive whose core is Taxon",
            found=core.row_type,
            remedy="labels of occurrences come in by importing labels",
            source_name=source_name,
        )
    names = [table for table in others if table.row_type.endswith(_VERNACULAR)]
    return Checklist(
        tuple(_rows(core, content(core.file))),
        tuple(row for table in names for row in _rows(table, content(table.file))),
    )


def _rows(table: Table, data: bytes) -> Iterator[TaxonRow]:
    encoding = table.encoding.casefold()
    try:
        text = decoded(data, table.file) if encoding in _ENCODINGS else data.decode(encoding)
    except (UnicodeDecodeError, LookupError) as error:
        raise FormatError(
            "{file} is not text in {encoding}", found=str(error)[:200], file=table.file, encoding=table.encoding
        ) from error
    for line, cells in table_cells(text, table.file, table.separator, table.quote):
        if line > table.header_lines:
            terms = {_term(term): cells[at] for at, term in table.columns.items() if at < len(cells)}
            own = cells[table.id_index] if table.id_index < len(cells) else ""
            yield _row(line, table.file, {"": own, **terms})


def _rows_by_header(text: str, name: str) -> Iterator[TaxonRow]:
    first_line = next((line for line in text.split("\n") if line.strip()), "").strip("\ufeff\r")
    separator = _separator(first_line)
    if separator is None:
        raise FormatError(
            "{name} is no table of taxa",
            expected='a first line with "scientificName", and "taxonID" or ranks such as "family"',
            found=f'"{first_line[:60]}"' if first_line else "an empty file",
            name=name,
        )
    header: list[str] = []
    for line, cells in table_cells(text, name, separator, "" if separator == "\t" else '"'):
        if header:
            yield _row(line, name, dict(zip(header, cells, strict=False)))
        elif any(cells):
            header = [_term(cell) for cell in cells]


def _table_of_taxa(names: tuple[str, ...], source_name: str) -> str:
    tables = [name for name in names if _TABLE_FILE.fullmatch(name)]
    taxa = [name for name in tables if _TAXON_FILE.fullmatch(name)] or tables
    if len(taxa) != 1:
        raise FormatError(
            "{source_name} does not say which of its files lists the taxa",
            expected="meta.xml, or one table such as Taxon.tsv",
            found=enumerated(taxa[:5]) or "no table",
            remedy="unpack it, and choose the table",
            source_name=source_name,
        )
    return taxa[0]


def _row(line: int, name: str, cells: Mapping[str, str]) -> TaxonRow:
    kept = {term: text.strip() for term, text in cells.items() if text.strip()}
    return TaxonRow(line_of(line, name), kept)


def _separator(header: str) -> str | None:
    for separator in _SEPARATORS:
        terms = {_term(cell) for cell in header.split(separator)}
        if NAME in terms and terms & _BESIDE:
            return separator
    return None


def _term(cell: str) -> str:
    return _PREFIX.sub("", cell.strip().strip('"')).casefold()
