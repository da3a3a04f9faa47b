"""Make a graph of the rows of a class list: classes, synonyms and edges."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, final

from engine.errors import FormatError
from engine.graph.class_attributes import NO_ATTRIBUTES
from engine.graph.identities import NO_IDENTITY
from engine.graph.names import join_path
from engine.interchange.imported import (
    Edge,
    ImportedClass,
    ImportedGraph,
    LeftOutItem,
    LeftOutReason,
    clean_name_at,
    cycle_error,
    disambiguated,
    find_cycle,
    fitting_attributes,
)

_NO_PARENT = frozenset({"none", "nan", "null", "na", "n/a", "-"})  # if no class's name
_BEFORE_ID = re.compile(r".*[/:#=]")
"""Of a URI that ends in an id."""


@dataclass
class Taxon:
    """A row of a class list."""

    place: str  # of the row, for messages; "" for a class without a row
    name: str
    ids: tuple[str, ...] = ()  # its own first
    parents: tuple[str, ...] = ()  # ids or names
    has_parents_by_name: bool = False
    accepted_id: str = ""  # of the accepted class, for a synonym
    accepted_name: str = ""
    is_synonym: bool = False
    above: tuple[tuple[str, str], ...] = ()  # ranks and names of ancestors, the highest first
    values: dict[str, Any] = field(default_factory=dict)  # attributes by name, without synonyms
    synonyms: list[str] = field(default_factory=list)
    identity: str = NO_IDENTITY  # in our own lists


def graph_of(
    taxa: Sequence[Taxon],
    source_name: str,
    left_out: list[LeftOutItem],
    names: Sequence[tuple[str, str]] = (),
) -> ImportedGraph:
    """Make the graph of a list.

    Args:
        taxa: its rows.
        source_name: for errors.
        left_out: skipped items are added to it.
        names: vernacular names, as id of the class and name with its language.

    Raises:
        FormatError: it holds no classes, or a class is its own ancestor.
    """
    return _GraphMaker(taxa, source_name, left_out).graph(names)


@final
class _GraphMaker:
    def __init__(
        self, taxa: Sequence[Taxon], source_name: str, left_out: list[LeftOutItem]
    ) -> None:
        self._source_name = source_name
        self._left_out = left_out
        self._rows: dict[str, list[Taxon]] = {}  # of each class, by key
        self._names: dict[str, str] = {}
        self._key_of_id: dict[str, str] = {}
        self._key_of_address: dict[str, str] = {}  # by the end of an id
        self._keys_of_name: dict[str, list[str]] = {}
        self._synonym_of: dict[str, Taxon] = {}  # by id and by name
        self._synonyms: list[Taxon] = []
        self._pending: list[str] = []  # keys of classes without resolved parents
        cleaned = [each for each in taxa if self._has_clean_name(each)]
        ids = {text for each in cleaned for text in each.ids}
        self._is_by_name = _is_by_name(cleaned, ids)
        for taxon in cleaned:
            if taxon.is_synonym:
                self._synonyms.append(taxon)
                self._synonym_of |= dict.fromkeys((*taxon.ids, taxon.name), taxon)
            else:
                self._add(taxon)

    def graph(self, names: Sequence[tuple[str, str]]) -> ImportedGraph:
        place_of: dict[Edge, str] = {}
        self._pending += self._rows
        lists_roots = any(not row.parents for rows in self._rows.values() for row in rows)
        is_resolved = any(
            self._find(each) for rows in self._rows.values() for row in rows for each in row.parents
        )
        for key in self._pending:  # grows during the loop
            for row in self._rows[key]:
                parents = self._parents(row, lists_roots=lists_roots, is_resolved=is_resolved)
                place_of |= dict.fromkeys(((parent, key) for parent in parents), row.place)
        if cycle := find_cycle(place_of):
            closing = max(pairwise(cycle), key=list(place_of).index)
            raise cycle_error(cycle, self._names, place_of[closing] or self._source_name)
        self._attach_synonyms()
        for text, name in names:
            if (key := self._find(text)) and name:
                self._rows[key][0].synonyms.append(name)
        return disambiguated(
            self._names,
            place_of,
            self._source_name,
            self._class,
            id_of=self._id_shown,
            left_out=self._left_out,
        )

    # -- which rows are classes

    def _has_clean_name(self, taxon: Taxon) -> bool:
        try:
            taxon.name = clean_name_at(taxon.place, taxon.name)
            taxon.above = tuple(
                (rank, clean_name_at(taxon.place, name)) for rank, name in taxon.above
            )
        except FormatError as error:
            self._left_out.append(LeftOutItem(LeftOutReason.BAD_NAME, error.what))
            return False
        return True

    def _add(self, taxon: Taxon) -> None:
        path = join_path([*(name for _, name in taxon.above), taxon.name])
        key = taxon.name if self._is_by_name else taxon.ids[0] if taxon.ids else path
        if key in self._rows and (
            self._names[key] != taxon.name or not (self._is_by_name or taxon.parents)
        ):
            self._left_out.append(LeftOutItem(LeftOutReason.REPEATED, taxon.place))
            return
        self._rows.setdefault(key, []).append(taxon)
        if key not in self._names:
            self._names[key] = taxon.name
            self._keys_of_name.setdefault(taxon.name, []).append(key)
        for text in taxon.ids:
            self._key_of_id.setdefault(text, key)
            self._key_of_address.setdefault(_BEFORE_ID.sub("", text), key)

    # -- parents

    def _parents(self, row: Taxon, *, lists_roots: bool, is_resolved: bool) -> list[str]:
        found = [key for each in row.parents if (key := self._find(each))]
        if found or (row.place and not row.parents and is_resolved):
            return found
        if row.above:
            return [self._key_above(row.above)]
        if not row.parents or row.parents[0].casefold() in _NO_PARENT:
            return []
        if self._is_by_name and not lists_roots:
            return [self._root(each) for each in row.parents]
        self._left_out.append(
            LeftOutItem(LeftOutReason.NO_PARENT, f"{row.name} ({row.parents[0]})")
        )
        return []

    def _find(self, text: str) -> str:
        """The class of an id or name; for a synonym the accepted class."""
        seen: set[str] = set()
        while text and text not in seen:
            seen.add(text)
            if key := self._key(text):
                return key
            synonym = self._synonym_of.get(text) or self._synonym_of.get(_BEFORE_ID.sub("", text))
            text = "" if synonym is None else synonym.accepted_id or synonym.accepted_name
        return ""

    def _key(self, text: str) -> str:
        by_name = self._keys_of_name.get(text, ())
        named = by_name[0] if len(by_name) == 1 else ""
        if self._is_by_name and named:
            return named
        return (
            self._key_of_id.get(text) or self._key_of_address.get(_BEFORE_ID.sub("", text)) or named
        )

    def _key_above(self, above: Sequence[tuple[str, str]]) -> str:
        """The class that columns of ranks name; made with its ancestors if it has no row."""
        rank, name = above[-1]
        path = join_path(each for _, each in above)
        if self._names.get(path) == name:
            return path
        for key in self._keys_of_name.get(name, ()):
            row = self._rows[key][0]
            if row.values.get("rank", "") in {"", rank} and set(row.above) <= set(above):
                return key
        if path not in self._rows:
            self._rows[path] = [Taxon("", name, above=tuple(above[:-1]), values={"rank": rank})]
            self._names[path] = name
            self._pending.append(path)
        return path

    def _root(self, name: str) -> str:
        self._rows.setdefault(name, [Taxon("", name)])
        self._names.setdefault(name, name)
        return name

    # -- attributes

    def _attach_synonyms(self) -> None:
        for taxon in self._synonyms:
            key = self._find(taxon.accepted_id) or self._find(taxon.accepted_name)
            if key:
                self._rows[key][0].synonyms += [taxon.name, *taxon.synonyms]
            else:
                self._left_out.append(LeftOutItem(LeftOutReason.NO_ACCEPTED, taxon.name))

    def _class(self, key: str, name: str) -> ImportedClass:
        attributes = NO_ATTRIBUTES
        for row in self._rows[key]:
            values = {**row.values, "synonyms": tuple(row.synonyms)}
            given = fitting_attributes(row.place or name, name, self._left_out, **values)
            attributes = attributes.filled_in(given)
        ids = {row.values.get("source_id", "") for row in self._rows[key]} - {""}
        identity = next((row.identity for row in self._rows[key] if row.identity), NO_IDENTITY)
        return ImportedClass(
            key, name, replace(attributes, source_id="") if len(ids) > 1 else attributes, identity
        )

    def _id_shown(self, key: str) -> str:
        return str(self._rows[key][0].values.get("source_id", "")) or key


def _is_by_name(taxa: Sequence[Taxon], ids: set[str]) -> bool:
    """Whether parents are given by name, so that names are the keys."""
    if not any(taxon.has_parents_by_name for taxon in taxa):
        return False
    names = {taxon.name for taxon in taxa}
    texts = [each for taxon in taxa for each in taxon.parents]
    return sum(each in names for each in texts) >= sum(each in ids for each in texts)
