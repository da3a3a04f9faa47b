"""SKOS, the format of thesauri: reads Turtle, RDF/XML and JSON-LD, writes Turtle.

A concept becomes a class with its broader concepts as parents. Its preferred label is the name: the
one without a language, else the English one, else the first by language. All labels with a language
become synonyms, the preferred ones first, and so do others than the name. The source id is the URI.
"""

import json
import logging
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from engine.errors import FormatError
from engine.graph.class_attributes import IN_FILES
from engine.graph.identities import NO_IDENTITY, identity_in
from engine.graph.language_tags import split_language, with_language
from engine.interchange import limits
from engine.interchange.imported import (
    OURS,
    Edge,
    ImportedClass,
    ImportedGraph,
    LeftOutItem,
    LeftOutReason,
    clean_name_at,
    disambiguated,
    fitting_attributes,
    own_ids,
)
from engine.interchange.taxonomy_file import Opening, taxonomy_bytes
from engine.interchange.text_file import decoded, json_value
from engine.interchange.xml_files import xml_tree

if TYPE_CHECKING:
    from rdflib import Graph
    from rdflib.parser import Parser


BASE = "https://taxonomy.invalid/"
"""Base of relative URIs while a file is read; a reserved domain."""
_CONTEXTS = frozenset({"@context", "@import"})


@dataclass(frozen=True, slots=True)
class Text:
    """A literal with its language tag, or ""."""

    text: str
    language: str = ""


Statement = tuple[str, str, str | Text]  # subject, predicate, and object: a URI or a literal

_BROKEN = (SyntaxError, ValueError, LookupError, TypeError, AttributeError, AssertionError)
"""Errors of the parsers besides those of rdflib."""


def rdf_statements(data: bytes, name: str, predicates: Collection[str]) -> list[Statement]:
    """Parse the statements with given predicates, without duplicates; relative URIs stay relative.

    Nothing is fetched: JSON-LD with a remote context is refused, and so is XML with entities.

    Args:
        data: Turtle, RDF/XML or JSON-LD, detected by its first character.
        name: of the file, for errors.
        predicates: their URIs.

    Raises:
        FormatError: it is not RDF, has a remote context, or too many such statements.
    """
    start = data.lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
    if start == b"<" and _is_xml(data):
        limits.TAXONOMY_PARTS.check(data.count(b"<"), name)
        xml_tree(data, name)  # refuses entities
        from rdflib.plugins.parsers.rdfxml import RDFXMLParser

        return _collected(partial(_parse, RDFXMLParser, data), name, predicates)
    text = decoded(data, name)
    if start in {b"{", b"["}:
        return _collected(
            partial(_parse_json, _json_without_fetching(text, name)), name, predicates
        )
    from rdflib.plugins.parsers.notation3 import TurtleParser

    return _collected(partial(_parse, TurtleParser, text), name, predicates)


# The readers are imported here, not looked up by format: a packaged program would lack them.


def _parse(reader: "type[Parser]", document: bytes | str, graph: "Graph") -> None:
    from rdflib.parser import StringInputSource

    reader().parse(StringInputSource(document, system_id=BASE), graph)


def _parse_json(document: Any, graph: "Graph") -> None:
    from rdflib.plugins.parsers.jsonld import to_rdf

    to_rdf(document, graph, base=BASE)


def _is_xml(data: bytes) -> bool:
    """Whether it is XML; Turtle may begin with "<" as well."""
    head = data[:2_000].lower()
    return b"<?xml" in head or b"<rdf:rdf" in head or b"<!doctype" in head or b"<!--" in head


def _collected(
    parse: "Callable[[Graph], None]", name: str, predicates: Collection[str]
) -> list[Statement]:
    from xml.sax import SAXException

    from rdflib.exceptions import Error

    logging.getLogger("rdflib").setLevel(logging.ERROR)  # it warns of each URI with a blank
    graph, found = _graph(name, frozenset(predicates))
    try:
        parse(graph)
    except RecursionError as error:
        raise FormatError(
            "{name} is nested too deeply", remedy="write it flat", name=name
        ) from error
    except (Error, SAXException, *_BROKEN) as error:
        reason = " ".join(str(error).split())[:200]
        raise FormatError(
            "{name} cannot be read as RDF",
            expected="Turtle, RDF/XML or JSON-LD",
            found=reason,
            name=name,
        ) from error
    return list(dict.fromkeys(found))


def _graph(name: str, predicates: frozenset[str]) -> "tuple[Graph, list[Statement]]":
    """A graph that stores nothing, and the list of the wanted statements that are added to it."""
    from rdflib import Graph, Literal
    from rdflib.plugins.stores.memory import Memory

    found: list[Statement] = []

    class WantedStatements(Memory):
        """Collects the wanted statements."""

        def add(self, triple: Any, _context: Any, quoted: bool = False) -> None:  # noqa: ARG002
            subject, predicate, value = triple
            if str(predicate) not in predicates:
                return
            limits.STATEMENTS.check(len(found) + 1, name)
            is_text = isinstance(value, Literal)
            value_node = Text(str(value), value.language or "") if is_text else _address(value)
            found.append((_address(subject), str(predicate), value_node))

    return Graph(store=WantedStatements()), found


def _address(resource: Any) -> str:
    return str(resource).removeprefix(BASE)


def _json_without_fetching(text: str, name: str) -> Any:
    """Parse JSON-LD; FormatError if it has a remote context."""
    document = json_value(text, name, limits.TAXONOMY_PARTS)
    waiting = [document]
    while waiting:
        value = waiting.pop()
        if isinstance(value, list):
            waiting.extend(value)
        elif isinstance(value, dict):
            for key, inner in value.items():
                waiting.append(inner)
                contexts = inner if isinstance(inner, list) else [inner]
                elsewhere = next(
                    (each for each in contexts if key in _CONTEXTS and isinstance(each, str)), None
                )
                if elsewhere is not None:
                    raise FormatError(
                        "{name} refers to a context on another server, and nothing is downloaded",
                        found=f'"{key}": "{elsewhere[:100]}"',
                        remedy="write that context into the file, or save it as Turtle",
                        name=name,
                    )
    return document


SKOS = "http://www.w3.org/2004/02/skos/core#"
TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
PREFIXES = {
    "skos": SKOS,
    "schema": "https://schema.org/",
    "dwc": "http://rs.tdwg.org/dwc/terms/",
}
"""Vocabularies; SKOS has neither colours nor ranks."""
CONCEPT = SKOS + "Concept"
BROADER = SKOS + "broader"
NARROWER = SKOS + "narrower"
NOTATION = SKOS + "notation"
PREFERRED = SKOS + "prefLabel"
HIDDEN = SKOS + "hiddenLabel"
IDENTIFIER = PREFIXES["schema"] + "identifier"
_PREDICATES = {
    each.name: [
        PREFIXES[prefix] + name for prefix, _, name in (text.partition(":") for text in each.skos)
    ]
    for each in IN_FILES
}
"""By attribute."""
_READ = frozenset(
    {TYPE, BROADER, NARROWER, NOTATION, PREFERRED, IDENTIFIER}.union(*_PREDICATES.values())
)
_ADDRESS = re.compile(r'(?:https?|urn):[^\x00-\x20<>"{}|^`\\]+')
_TURTLE = re.compile(r"(?:#.*\n|\s+)*(?:@?(?:prefix|base)\s|<[^>\s]+>\s)", re.IGNORECASE)
_LINKED = re.compile(r'"@(?:context|graph|id|type)"\s*:')
_LANGUAGES = ("", "en")  # of names, in the order in which they are preferred

_Facts = Mapping[str, list[str | Text]]


def read(source: Path) -> ImportedGraph:
    """Read the concepts of a thesaurus; the keys are their URIs."""
    facts: dict[str, dict[str, list[str | Text]]] = {}
    statements = rdf_statements(taxonomy_bytes(source), source.name, _READ)
    concepts = _concepts(statements)
    for subject, predicate, value in statements:
        if subject in concepts:
            facts.setdefault(subject, {}).setdefault(predicate, []).append(value)
    labels = {
        key: sorted(_texts(facts.get(key, {}), PREFERRED), key=_language_key) for key in concepts
    }
    left_out: list[LeftOutItem] = []
    names: dict[str, str] = {}
    for key, found in labels.items():
        try:
            names[key] = clean_name_at(key, found[0].text if found else "")
        except FormatError:
            left_out.append(LeftOutItem(LeftOutReason.DEPRECATED, key))

    def class_of(key: str, name: str) -> ImportedClass:
        return _class(key, name, labels[key], facts.get(key, {}), left_out)

    edges = _edges(statements)
    there = {edge: None for edge in edges if edge[0] in names and edge[1] in names}
    has_parent = {child for _, child in there}
    left_out += [
        LeftOutItem(LeftOutReason.NO_PARENT, names[child])
        for child in dict.fromkeys(child for _, child in edges)
        if child in names and child not in has_parent
    ]
    return disambiguated(names, there, source.name, class_of, id_of=_last_part, left_out=left_out)


def fits(opening: Opening) -> bool:
    """Whether a file is RDF with the URI of SKOS near the beginning."""
    is_rdf = (
        opening.xml_root == "RDF"
        or _TURTLE.match(opening.text) is not None
        or (opening.text.startswith(("{", "[")) and opening.has(_LINKED))
    )
    return is_rdf and SKOS in opening.text


def to_turtle(graph: ImportedGraph) -> str:
    """Write a graph as Turtle."""
    addresses = own_ids(graph, lambda source_id: _ADDRESS.fullmatch(source_id) is not None)
    parents = graph.parent_keys
    blocks = [
        "".join(f"@prefix {prefix}: <{address}> .\n" for prefix, address in PREFIXES.items()),
        *(_block(each, addresses, parents[each.key]) for each in graph.classes),
    ]
    return "\n".join(blocks)


def _concepts(statements: Iterable[Statement]) -> dict[str, None]:
    """All concepts in the order of the document."""
    concepts: dict[str, None] = {}
    for subject, predicate, value in statements:
        if (predicate == TYPE and value == CONCEPT) or predicate in {BROADER, NARROWER}:
            concepts[subject] = None
        if predicate in {BROADER, NARROWER} and isinstance(value, str):
            concepts[value] = None
    return concepts


def _edges(statements: Iterable[Statement]) -> dict[Edge, None]:
    edges: dict[Edge, None] = {}
    for subject, predicate, value in statements:
        if isinstance(value, str) and predicate in {BROADER, NARROWER}:
            edges[(value, subject) if predicate == BROADER else (subject, value)] = None
    return edges


def _texts(facts: _Facts, predicate: str) -> list[Text]:
    texts = [each for each in facts.get(predicate, ()) if isinstance(each, Text)]
    # Hidden labels, such as misspellings, are for search only and have no language.
    return [Text(each.text) for each in texts] if predicate == HIDDEN else texts


def _language_key(label: Text) -> tuple[int, str]:
    language = label.language.casefold()
    main = language.partition("-")[0]
    return (_LANGUAGES.index(main) if main in _LANGUAGES else len(_LANGUAGES)), language


def _class(
    key: str, name: str, labels: Sequence[Text], facts: _Facts, left_out: list[LeftOutItem]
) -> ImportedClass:
    values: dict[str, str | tuple[str, ...]] = {}
    for each in IN_FILES:
        found = [_texts(facts, predicate) for predicate in _PREDICATES[each.name]]
        if isinstance(each.default, tuple):
            texts = chain(labels, *found)
            values[each.name] = tuple(with_language(each.text, each.language) for each in texts)
        else:
            values[each.name] = next(
                (min(texts, key=_language_key).text for texts in found if texts), ""
            )
    notation = next((each.text for each in _texts(facts, NOTATION)), "")
    values["source_id"] = notation if key.startswith(OURS) else key
    identities = (identity_in(each.text) for each in _texts(facts, IDENTIFIER))
    identity = next(filter(None, identities), NO_IDENTITY)
    return ImportedClass(key, name, fitting_attributes(key, name, left_out, **values), identity)


def _last_part(address: str) -> str:
    """The part of a URI after its last separator."""
    return unquote(re.split(r"[/#:]", address.rstrip("/#"))[-1]) or address


def _block(each: ImportedClass, addresses: Mapping[str, str], parents: Iterable[str]) -> str:
    address = addresses[each.key]
    statements = _named(each)
    if address.startswith(OURS) and each.attributes.source_id:
        statements.append(("skos:notation", Text(each.attributes.source_id)))
    for attribute in IN_FILES:
        value = attribute.of(each.attributes)
        if value and attribute.skos and not isinstance(value, tuple):
            statements.append((attribute.skos_written, Text(value)))
    if each.identity:
        statements.append(("schema:identifier", Text(each.identity)))
    lines = [f"{predicate} {_literal(text)}" for predicate, text in statements]
    lines += [f"skos:broader <{addresses[parent]}>" for parent in parents]
    return " ;\n    ".join([f"<{address}> a skos:Concept", *lines]) + " .\n"


def _named(each: ImportedClass) -> list[tuple[str, Text]]:
    """The labels of a class, with one preferred label for each language."""
    labels = [Text(*split_language(synonym)) for synonym in each.attributes.synonyms]
    preferred = {label.language: label for label in reversed(labels) if label.language}
    chosen = min(preferred.values(), key=_language_key, default=Text(""))
    own = [] if chosen.text == each.name else [Text(each.name)]  # readers take `chosen` as the name
    first = [*own, *(label for label in labels if preferred.get(label.language) is label)]
    others = [label for label in labels if preferred.get(label.language) is not label]
    return [
        *(("skos:prefLabel", label) for label in first),
        *(("skos:altLabel", label) for label in others),
    ]


def _literal(text: Text) -> str:
    """A literal of Turtle, which has the escapes of JSON."""
    return json.dumps(text.text, ensure_ascii=False) + (
        f"@{text.language}" if text.language else ""
    )
