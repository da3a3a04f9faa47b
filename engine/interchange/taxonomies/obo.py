"""Reader of OBO, the format of biological ontologies.

A term becomes a class with its "is_a" terms as parents; other relationships, such as "part_of", are
ignored. Obsolete terms are skipped.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from engine.errors import FormatError
from engine.graph.class_attributes import IN_FILES
from engine.interchange.imported import (
    Edge,
    ImportedClass,
    ImportedGraph,
    LeftOutItem,
    LeftOutReason,
    clean_name_at,
    disambiguated,
    fitting_attributes,
)
from engine.interchange.taxonomy_file import Opening, taxonomy_lines
from engine.texts import Message, line_of

TERM = "[Term]"
_STANZA = re.compile(r"\[\w+\]\s*(?:!.*)?")
_STARTS = re.compile(r"(?:(?:!.*|[\w-]+:.*)?\s*\n)*(?:format-version:|\[Term\])")
"""Beginning of a file, after comments and other tags of the header."""
_ESCAPE = re.compile(r"\\(.?)", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "W": " "}
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"')
_HAS_RANK = "has_rank"  # property of ranks, as in NCBI's taxonomy
_RANK_PREFIX = re.compile(r".*[/#:]|.*(?:NCBITaxon|TAXRANK)_")
_RANKS = {
    "0000001": "phylum",
    "0000002": "class",
    "0000003": "order",
    "0000004": "family",
    "0000005": "genus",
    "0000006": "species",
    "0000017": "kingdom",
}
"""Main ranks by their id in the vocabulary of taxonomic ranks (TAXRANK)."""
_UNESCAPED_END = re.compile(r"(?<!\\)(?:\s+!\s|\s*\{)")
"""End of a value: a comment, or qualifiers in braces."""


@dataclass
class _Term:
    line: int
    tags: dict[str, list[tuple[str, int]]] = field(default_factory=dict)

    def first(self, tag: str) -> str:
        return self.tags[tag][0][0] if tag in self.tags else ""


def read(source: Path) -> ImportedGraph:
    """Read the terms of an ontology in OBO 1.2 or 1.4; the keys are the terms' ids."""
    terms: dict[str, _Term] = {}
    left_out: list[LeftOutItem] = []
    for term in _terms(source):
        key = _id(term, source.name)
        if key in terms:
            left_out.append(
                LeftOutItem(LeftOutReason.REPEATED, f"{key} ({line_of(term.line, source.name)})")
            )
        terms.setdefault(key, term)
    kept = {
        key: term for key, term in terms.items() if term.first("is_obsolete").casefold() != "true"
    }
    names = {key: _name(key, term, source.name, left_out) for key, term in kept.items()}
    other_ids = {
        _value(text): key for key, term in kept.items() for text, _ in term.tags.get("alt_id", ())
    }
    other_ids |= {
        key: _value(term.first("replaced_by")) for key, term in terms.items() if key not in kept
    }
    edges = _edges(kept, names, left_out, other_ids)

    def class_of(key: str, name: str) -> ImportedClass:
        return _class(key, kept[key], name, source.name, left_out)

    return disambiguated(names, edges, source.name, class_of, left_out=left_out)


def _name(key: str, term: _Term, source_name: str, left_out: list[LeftOutItem]) -> str:
    """The name of a term; its id if the name is invalid."""
    place = line_of(term.line, source_name)
    try:
        return clean_name_at(place, _value(term.first("name")) or key)
    except FormatError:
        left_out.append(LeftOutItem(LeftOutReason.BAD_NAME, f"{key} ({place})"))
        return clean_name_at(place, key)


def fits(opening: Opening) -> bool:
    """Whether a file begins with a header of OBO or a term."""
    return _STARTS.match(opening.text) is not None


def _terms(source: Path) -> Iterator[_Term]:
    term: _Term | None = None
    for number, line in taxonomy_lines(source):
        bare = line.strip()
        if _STANZA.fullmatch(bare):
            if term is not None:
                yield term
            term = _Term(number) if bare.startswith(TERM) else None
        elif term is not None and bare and not bare.startswith("!"):
            tag, colon, value = bare.partition(":")
            if not colon:
                raise FormatError(
                    "line {number} of {source} is not part of a term",
                    expected="tag: value",
                    found=f'"{bare[:60]}"',
                    number=number,
                    source=source.name,
                )
            if value.strip().startswith(f"{_HAS_RANK} "):
                tag, _, value = value.strip().partition(" ")
            term.tags.setdefault(tag.strip(), []).append((value.strip(), number))
    if term is not None:
        yield term


def _id(term: _Term, source_name: str) -> str:
    key = _value(term.first("id"))
    if not key:
        raise FormatError(
            "line {line} of {source_name} begins a term without an id",
            remedy='write "id: ..."',
            line=term.line,
            source_name=source_name,
        )
    return key


def _edges(
    terms: dict[str, _Term],
    names: dict[str, str],
    left_out: list[LeftOutItem],
    other_ids: dict[str, str],
) -> dict[Edge, None]:
    """Edges from parents in the file, or their replacements; other ontologies are skipped."""
    edges: dict[Edge, None] = {}
    for key, term in terms.items():
        parents = [_value(text) for text, _ in term.tags.get("is_a", ())]
        there = [
            each
            for each in (other_ids.get(each, each) for each in parents)
            if each in terms and each != key
        ]
        edges |= dict.fromkeys((each, key) for each in there)
        if parents and not there:
            left_out.append(LeftOutItem(LeftOutReason.NO_PARENT, f"{names[key]} ({parents[0]})"))
    return edges


def _class(
    key: str, term: _Term, name: str, source_name: str, left_out: list[LeftOutItem]
) -> ImportedClass:
    values: dict[str, str | tuple[str, ...]] = {"source_id": key}
    for each in IN_FILES:
        lines = [found for tag in each.obo for found in term.tags.get(tag, ())]
        texts = [
            _rank(text) if each.name == "rank" else _quoted(text, line_of(line, source_name))
            for text, line in lines
            if text
        ]
        if texts:
            values[each.name] = tuple(texts) if isinstance(each.default, tuple) else texts[0]
    place = Message("the term in {line}", {"line": line_of(term.line, source_name)})
    return ImportedClass(key, name, fitting_attributes(place, name, left_out, **values))


def _rank(text: str) -> str:
    """The rank of "NCBITaxon:species_group" or "TAXRANK:0000006"; "" if unknown."""
    quoted = _QUOTED.match(text)
    name = _plain(quoted[1]) if quoted else _RANK_PREFIX.sub("", _value(text)).replace("_", " ")
    return _RANKS.get(name, "") if name.isdigit() else name


def _value(text: str) -> str:
    """A value without comment and qualifiers."""
    end = _UNESCAPED_END.search(text)
    return _plain(text[: end.start()] if end else text).strip()


def _quoted(text: str, place: str) -> str:
    found = _QUOTED.match(text)
    if found is None:
        raise FormatError("{place} has no text in quotes", found=f'"{text[:60]}"', place=place)
    return _plain(found[1])


def _plain(text: str) -> str:
    r"""Unescape a text: "\," is a comma, "\n" a line break."""
    return _ESCAPE.sub(lambda found: _ESCAPED.get(found[1], found[1]), text)
