"""Reader of class lists in tables, by the roles of their columns.

A row is a class, a synonym, or an edge from a parent. Parents and accepted classes are given by id
or name. If a parent is not in the list, columns of ranks have the ancestors.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import Any, final

from engine.errors import FormatError, UsageError
from engine.graph.class_attributes import ATTRIBUTE, IN_FILES
from engine.graph.identities import identity_in
from engine.graph.language_tags import UNDETERMINED, with_language
from engine.graph.names import SEPARATOR
from engine.interchange import limits
from engine.interchange.imported import OURS, ImportedGraph, LeftOutItem, LeftOutReason
from engine.interchange.tables.dialects import TablePurpose
from engine.interchange.tables.read_table import Table, opened_table
from engine.interchange.tables.recognise import ColumnLayout, Row, cell_at, layout_of, recognised
from engine.interchange.tables.roles import LEVELS, RANKS, ROLE_OF, Role, column_key
from engine.interchange.taxonomies.checklist_archive import PARENTS, PROPERTIES
from engine.interchange.taxonomies.taxon_graph import Taxon, graph_of
from engine.interchange.taxonomy_file import PARTS_OF_LINE

BETWEEN = re.compile(r"(?:[^\\|]|\\.)+")
"""Texts of a cell, separated by bars; a backslash escapes a bar."""
_ESCAPED = re.compile(r"\\(.)")
_NO_CLASS = re.compile(r"(?i)synonym|misapplied|\bunaccepted\b|\bnot accepted\b|\binvalid\b")
"""Taxonomic status of a synonym."""
_IN_PATH = (";", "|", ">")  # separators of paths, besides ours
_EPITHET = re.compile(r"[^\W\d_A-Z]\S*")
_SEVERAL = "parents"  # column of several parents, as in JSON


def read(source: Path, given: Mapping[str, str] | None = None) -> ImportedGraph:
    """Read the table of a file.

    Args:
        source: the file.
        given: column by role, set by the user; see `recognised`.
    """
    with opened_class_table(source, given) as table:
        layout = recognised(
            table.columns, table.sample, TablePurpose.CLASSES, given, name=table.name
        )
        left_out: list[LeftOutItem] = []
        taxa = list(taxa_of(table, layout, left_out))
    return graph_of(taxa, source.name, left_out)


def layout_in(source: Path) -> ColumnLayout | None:
    """Recognise the columns of a file; None if it is not a table of classes."""
    try:
        with opened_class_table(source) as table:
            return layout_of(table.columns, table.sample, TablePurpose.CLASSES)
    except FormatError:
        return None


def opened_class_table(
    source: Path, given: Mapping[str, str] | None = None
) -> AbstractContextManager[Table]:
    """Open the table of a file and find its header."""
    return opened_table(
        source,
        lambda columns, rows: is_class_table(columns, rows, given),
        limit=limits.TAXONOMY_BYTES,
    )


def is_class_table(
    columns: Sequence[str], rows: Iterable[Row], given: Mapping[str, str] | None = None
) -> bool:
    """Whether the columns are those of a table of classes."""
    with suppress(UsageError):
        return layout_of(columns, rows, TablePurpose.CLASSES, given) is not None
    return False


def taxa_of(
    table: Table, layout: ColumnLayout, left_out: list[LeftOutItem], *, reference: int | None = None
) -> Iterator[Taxon]:
    """Read the rows.

    Args:
        table: of classes.
        layout: of its columns.
        left_out: rows without a class are added to it.
        reference: column by which other tables of an archive refer to a row, besides its id.
    """
    reader = _RowReader(
        layout, table.columns, reference, is_filled_down=_is_filled_down(layout, table.sample)
    )
    for number, (line, cells) in enumerate(table.rows if layout.has_header else table.all_rows):
        limits.TAXONOMY_PARTS.check(PARTS_OF_LINE * number, table.name)
        taxon = reader.taxon(cells, table.place_of(line))
        if taxon.name:
            yield taxon
        else:
            left_out.append(LeftOutItem(LeftOutReason.NO_NAME, taxon.place))


@final
class _RowReader:
    def __init__(
        self,
        layout: ColumnLayout,
        columns: Sequence[str],
        reference: int | None,
        *,
        is_filled_down: bool,
    ) -> None:
        self._layout = layout
        self._reference = reference
        self._is_filled_down = is_filled_down
        self._ranked: list[tuple[str, str]] = []  # of the previous row
        self._is_ours = Role.SOURCE_ID in layout.columns  # as in all our exports
        keys = [column_key(each) for each in columns]
        self._has_several = (
            Role.PARENT_NAME in layout.columns
            and keys[layout.columns[Role.PARENT_NAME]] == _SEVERAL
        )
        self._attributes = {
            each.name: next(
                (
                    keys.index(key)
                    for key in map(column_key, (each.name, *each.read_as, *each.darwin_core))
                    if key in keys
                ),
                layout.columns.get(ROLE_OF[each.name]) if each.name in ROLE_OF else None,
            )
            for each in IN_FILES
            if each.name not in {"synonyms", "source_id"}
        }

    def taxon(self, cells: Sequence[str], place: str) -> Taxon:
        layout = self._layout
        ranked = layout.path(cells)
        if self._is_filled_down:
            ranked = self._ranked = [*_above(self._ranked, *ranked[0]), *ranked] if ranked else []
        ranked = _without_levels(_whole_names(ranked))
        own_id = layout.cell(cells, Role.ID)
        whole = layout.cell(cells, Role.CLASS)
        name, rank = self._name(cells, ranked)
        rank = layout.cell(cells, Role.RANK) or rank
        rank = rank if self._is_ours else rank.casefold()
        properties = _properties(layout.cell(cells, Role.PROPERTIES))
        filled = {
            name: at for name, at in self._attributes.items() if at is not None and at < len(cells)
        }
        values: dict[str, Any] = {name: cells[at].strip() for name, at in filled.items()}
        values |= {"rank": rank, "source_id": self._source_id(cells, own_id), **properties}
        parents = values.pop(PARENTS, None) or self._parents(cells)
        accepted, accepted_name = self._accepted(cells, own_id, name, whole)
        status = layout.cell(cells, Role.TAXONOMIC_STATUS)
        is_synonym = bool(accepted or accepted_name or _NO_CLASS.search(status))
        if (
            is_synonym
            and not (accepted or accepted_name)
            and layout.dialect
            and layout.dialect.has_synonyms_below
        ):
            accepted = next(iter(parents), "")
        reference = cell_at(cells, self._reference)
        with_author = [whole] if whole != name and not is_synonym else []
        repeated = with_language(name, UNDETERMINED)
        others = (each for each in self._other_names(cells) if each != repeated)
        synonyms = [*values.pop("synonyms", ()), *with_author, *others]
        return Taxon(
            place,
            name,
            ids=tuple(dict.fromkeys(filter(None, (own_id, reference)))),
            parents=tuple(parents),
            has_parents_by_name=Role.PARENT_ID not in layout.columns
            and Role.PARENT_NAME in layout.columns,
            accepted_id=accepted,
            accepted_name=accepted_name,
            is_synonym=is_synonym,
            above=tuple(_above(ranked, rank, name)) or self._path_above(cells, name),
            values=values,
            synonyms=[each for each in synonyms if each],
            identity=identity_in(layout.cell(cells, Role.IDENTITY)),
        )

    def _name(self, cells: Sequence[str], ranked: Sequence[tuple[str, str]]) -> tuple[str, str]:
        """The name without its author, and its rank if known: as given, by parts, or by ranks."""
        layout = self._layout
        if plain := layout.cell(cells, Role.PLAIN_NAME):
            return plain, ""
        if whole := layout.cell(cells, Role.CLASS):
            return whole.removesuffix(layout.cell(cells, Role.AUTHOR)).strip() or whole, ""
        genus = layout.cell(cells, Role.GENUS) or dict(ranked).get("genus", "")
        epithet = layout.cell(cells, Role.SPECIES_EPITHET)
        if genus and epithet and _EPITHET.fullmatch(epithet):
            below = layout.cell(cells, Role.SUBSPECIES_EPITHET)
            return " ".join(
                filter(None, (genus, epithet, below))
            ), "subspecies" if below else "species"
        if ranked:
            return ranked[-1][1], ranked[-1][0]
        return layout.cell(cells, Role.VERNACULAR) if Role.CLASS not in layout.columns else "", ""

    def _path_above(self, cells: Sequence[str], name: str) -> tuple[tuple[str, str], ...]:
        """Ancestors in a column of paths, without ranks."""
        text = self._layout.cell(cells, Role.PATH)
        separator = next((each for each in _IN_PATH if each in text), SEPARATOR)
        names = [each.strip() for each in text.split(separator) if each.strip()]
        return tuple(("", each) for each in (names[:-1] if names[-1:] == [name] else names))

    def _source_id(self, cells: Sequence[str], own_id: str) -> str:
        if Role.SOURCE_ID in self._layout.columns:
            return self._layout.cell(cells, Role.SOURCE_ID)
        return "" if own_id.startswith(OURS) else own_id

    def _parents(self, cells: Sequence[str]) -> list[str]:
        parent = self._layout.cell(cells, Role.PARENT_ID) or self._layout.cell(
            cells, Role.PARENT_NAME
        )
        return parts_of(parent, is_ours=True) if self._has_several else [parent] if parent else []

    def _accepted(
        self, cells: Sequence[str], own_id: str, name: str, whole: str
    ) -> tuple[str, str]:
        accepted = self._layout.cell(cells, Role.ACCEPTED_ID)
        by_name = self._layout.cell(cells, Role.ACCEPTED_NAME)
        if accepted and accepted == own_id:
            return "", ""
        return accepted, "" if by_name in {name, whole} else by_name

    def _other_names(self, cells: Sequence[str]) -> Iterator[str]:
        """Synonyms and vernacular names."""
        layout = self._layout
        yield from parts_of(layout.cell(cells, Role.SYNONYM), is_ours=self._is_ours)
        language = layout.cell(cells, Role.LANGUAGE) or UNDETERMINED
        if Role.VERNACULAR in layout.columns:
            for each in parts_of(layout.cell(cells, Role.VERNACULAR)):
                yield with_language(each, language)
        for code, text in layout.names_in_languages(cells):
            for each in parts_of(text):
                yield with_language(each, code)


def _is_filled_down(layout: ColumnLayout, rows: Sequence[Row]) -> bool:
    """Whether blank cells of the highest rank mean the value of the previous row."""
    if len(layout.ranks) < 2 or not rows:  # noqa: PLR2004 (a rank and one above)
        return False
    tops = [cell_at(cells, layout.ranks[0][1]) for _, cells in rows]
    filled = [each for each in tops if each]
    return bool(tops[0]) and len({*filled}) == len(filled) and 2 * len(filled) <= len(tops)


def parts_of(text: str, *, is_ours: bool = False) -> list[str]:
    """Split a cell at bars, or at semicolons in tables of other programs."""
    if ";" in text and "|" not in text and not is_ours:
        return [each.strip() for each in text.split(";")]
    return [_ESCAPED.sub(r"\1", part).strip() for part in BETWEEN.findall(text)]


def _whole_names(ranked: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """The ranks with binomials of species, where tables have only the epithet."""
    found: dict[str, str] = {}
    for rank, name in ranked:
        before = {"species": found.get("genus"), "subspecies": found.get("species")}.get(rank)
        found[rank] = f"{before} {name}" if before and _EPITHET.fullmatch(name) else name
    return list(found.items())


def _without_levels(ranked: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """The ranks without levels, which are not ranks of classes."""
    return [("" if rank in LEVELS else rank, name) for rank, name in ranked]


def _above(ranked: Sequence[tuple[str, str]], rank: str, name: str) -> Iterator[tuple[str, str]]:
    """The ranks above a rank."""
    order = list(RANKS)
    for each, above in ranked:
        if above == name or (each and rank in order and order.index(each) >= order.index(rank)):
            return
        yield each, above


def _properties(text: str) -> Mapping[str, Any]:
    """Attributes in `dynamicProperties` of our own archives."""
    if PROPERTIES not in text:
        return {}
    with suppress(ValueError, AttributeError, TypeError, RecursionError):
        found = json.loads(text).get(PROPERTIES, {})
        taken = {
            each.name: found[each.name]
            for each in IN_FILES
            if each.name in found and each.accepts(found[each.name])
        }
        if ATTRIBUTE["synonyms"].accepts(found.get(PARENTS)):
            taken[PARENTS] = found[PARENTS]
        return taken
    return {}
