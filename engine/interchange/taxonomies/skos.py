"""SKOS, in which libraries and museums publish thesauri: Turtle, RDF/XML or JSON-LD in, Turtle out.

A concept becomes a class under each concept that is broader. Its preferred label is the name: the one without a
language, else the English one, else the first by language; all other labels are synonyms. The source id is its address.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final
from urllib.parse import unquote

from engine.errors import FormatError
from engine.graph.class_attributes import IN_FILES
from engine.interchange.imported import ImportedClass, ImportedGraph, attributes_at, checked, clean_name_at
from engine.interchange.sibling_names import disambiguated
from engine.interchange.taxonomies.opening import Opening
from engine.interchange.taxonomies.rdf import Statement, Text, rdf_statements
from engine.interchange.taxonomy_file import taxonomy_bytes

SKOS: Final = "http://www.w3.org/2004/02/skos/core#"
TYPE: Final = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
PREFIXES: Final = {"skos": SKOS, "schema": "https://schema.org/", "dwc": "http://rs.tdwg.org/dwc/terms/"}
"""Vocabularies of what classes have; SKOS has no colours and ranks of its own."""
OURS: Final = "urn:protoleaf:class:"
"""Addresses of classes that came from nowhere; the number behind it is the class's own."""
CONCEPT: Final = SKOS + "Concept"
BROADER: Final = SKOS + "broader"
NARROWER: Final = SKOS + "narrower"
NOTATION: Final = SKOS + "notation"
PREFERRED: Final = SKOS + "prefLabel"
_PREDICATES: Final = {
    each.name: [PREFIXES[prefix] + name for prefix, _, name in (text.partition(":") for text in each.skos)]
    for each in IN_FILES
}
"""Those that each attribute is read from."""
_READ: Final = frozenset({TYPE, BROADER, NARROWER, NOTATION, PREFERRED}.union(*_PREDICATES.values()))
_ADDRESS: Final = re.compile(r'(?:https?|urn):[^\x00-\x20<>"{}|^`\\]+')
_TURTLE: Final = re.compile(r"(?:#.*\n|\s+)*(?:@?(?:prefix|base)\s|<[^>\s]+>\s)", re.IGNORECASE)
_LINKED: Final = re.compile(r'"@(?:context|graph|id|type)"\s*:')
_LANGUAGES: Final = ("", "en")
"""Of names, in the order in which they are preferred."""

_Facts = Mapping[str, list[str | Text]]


def read(source: Path) -> ImportedGraph:
    """Read the concepts of a vocabulary.

    Args:
        source: Turtle, RDF/XML or JSON-LD.

    Returns:
        The classes; the key is the concept's address.

    Raises:
        StorageError: the file cannot be read.
        FormatError: it holds no concepts, one without a name, one under an unknown one, or a circle.
    """
    facts: dict[str, dict[str, list[str | Text]]] = {}
    statements = rdf_statements(taxonomy_bytes(source), source.name, _READ)
    concepts = _concepts(statements)
    for statement in statements:
        if statement.subject in concepts:
            facts.setdefault(statement.subject, {}).setdefault(statement.predicate, []).append(statement.value)
    edges = _edges(statements)
    labels = {key: _labels(key, concepts, facts.get(key, {}), source.name) for key in concepts}
    names = {key: clean_name_at(f"the concept {key} in {source.name}", found[0]) for key, found in labels.items()}
    names = disambiguated(names, edges, source.name, id_of=_last_part)
    classes = tuple(_class(key, names[key], labels[key], facts.get(key, {}), source.name) for key in concepts)
    return checked(ImportedGraph(classes, tuple(edges)), source.name)


def fits(opening: Opening) -> bool:
    """Whether a file is of this format: RDF, with the vocabulary's own address near the beginning."""
    is_rdf = (
        opening.xml_root == "RDF"
        or _TURTLE.match(opening.text) is not None
        or (opening.text.startswith(("{", "[")) and opening.has(_LINKED))
    )
    return is_rdf and SKOS in opening.text


def written(graph: ImportedGraph) -> str:
    """A graph as Turtle; what `read` makes of it is the same again."""
    addresses = _addresses(graph)
    parents = graph.parent_keys()
    blocks = [
        "".join(f"@prefix {prefix}: <{address}> .\n" for prefix, address in PREFIXES.items()),
        *(_block(each, addresses, parents[each.key]) for each in graph.classes),
    ]
    return "\n".join(blocks)


def _concepts(statements: Iterable[Statement]) -> dict[str, str]:
    """Every concept in the order of the document, with what makes it one, for errors."""
    concepts: dict[str, str] = {}
    for subject, predicate, value in statements:
        if (predicate == TYPE and value == CONCEPT) or predicate in {BROADER, NARROWER}:
            concepts.setdefault(subject, "")
        if predicate in {BROADER, NARROWER} and isinstance(value, str):
            concepts.setdefault(value, f"{'a parent' if predicate == BROADER else 'a child'} of {subject}")
    return concepts


def _edges(statements: Iterable[Statement]) -> dict[tuple[str, str], None]:
    edges: dict[tuple[str, str], None] = {}
    for subject, predicate, value in statements:
        if isinstance(value, str) and predicate in {BROADER, NARROWER}:
            edges[(value, subject) if predicate == BROADER else (subject, value)] = None
    return edges


def _labels(key: str, concepts: Mapping[str, str], facts: _Facts, source_name: str) -> list[str]:
    """Preferred labels, that which names the class first."""
    preferred = sorted(_texts(facts, PREFERRED), key=_language_key)
    if not preferred:
        role = f", {concepts[key]}," if concepts[key] else ""
        raise FormatError(
            "the concept {key}{role} has no name in {source_name}",
            expected="a skos:prefLabel",
            remedy="add it, or choose the whole vocabulary",
            key=key,
            role=role,
            source_name=source_name,
        )
    return [each.text for each in preferred]


def _texts(facts: _Facts, predicate: str) -> list[Text]:
    return [each for each in facts.get(predicate, ()) if isinstance(each, Text)]


def _language_key(label: Text) -> tuple[int, str]:
    language = label.language.casefold()
    main = language.partition("-")[0]
    return (_LANGUAGES.index(main) if main in _LANGUAGES else len(_LANGUAGES)), language


def _class(key: str, name: str, labels: list[str], facts: _Facts, source_name: str) -> ImportedClass:
    values: dict[str, str | tuple[str, ...]] = {}
    for each in IN_FILES:
        found = [_texts(facts, predicate) for predicate in _PREDICATES[each.name]]
        if isinstance(each.default, tuple):
            values[each.name] = (*labels, *(text.text for texts in found for text in texts))
        else:
            values[each.name] = next((min(texts, key=_language_key).text for texts in found if texts), "")
    notation = next((each.text for each in _texts(facts, NOTATION)), "")
    values["source_id"] = notation if key.startswith(OURS) else key
    return ImportedClass(key, name, attributes_at(f"the concept {key} in {source_name}", name, **values))


def _last_part(address: str) -> str:
    """What people know of an address: the part behind the last sign that divides it."""
    return unquote(re.split(r"[/#:]", address.rstrip("/#"))[-1]) or address


def _addresses(graph: ImportedGraph) -> dict[str, str]:
    ids = {each.key: each.attributes.source_id for each in graph.classes}
    counts = Counter(ids.values())
    return {
        key: source_id
        if _ADDRESS.fullmatch(source_id) and counts[source_id] == 1 and not source_id.startswith(OURS)
        else f"{OURS}{key}"
        for key, source_id in ids.items()
    }


def _block(each: ImportedClass, addresses: Mapping[str, str], parents: Iterable[str]) -> str:
    address = addresses[each.key]
    statements = [("skos:prefLabel", each.name)]
    if address.startswith(OURS) and each.attributes.source_id:
        statements.append(("skos:notation", each.attributes.source_id))
    for attribute in IN_FILES:
        value = attribute.of(each.attributes)
        if value and attribute.skos:
            texts = value if isinstance(value, tuple) else (value,)
            statements += [(attribute.skos_written, text) for text in texts]
    # What JSON escapes in a text, Turtle escapes in the same way.
    lines = [f"{predicate} {json.dumps(text, ensure_ascii=False)}" for predicate, text in statements]
    lines += [f"skos:broader <{addresses[parent]}>" for parent in parents]
    return " ;\n    ".join([f"<{address}> a skos:Concept", *lines]) + " .\n"
