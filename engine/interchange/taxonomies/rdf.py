"""Statements of RDF that somebody else's program wrote, read without what RDF can do to a reader.

Nothing is fetched: a JSON-LD document that takes its context from elsewhere is refused, and so is XML that declares
entities. Only statements with the wanted predicates are kept, so that memory depends on what is used of a file.
"""

import logging
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from engine.errors import FormatError
from engine.interchange.taxonomy_file import check_parts, json_document
from engine.interchange.text_file import decoded
from engine.interchange.xml_trees import xml_tree

if TYPE_CHECKING:
    from rdflib import Graph
    from rdflib.parser import Parser

BASE: Final = "https://taxonomy.invalid/"
"""What relative addresses are below while a file is read; addresses of this kind lead nowhere."""
MOST_STATEMENTS: Final = 1_000_000
"""That are kept of one file; a thesaurus of 40,000 concepts in a dozen languages has half as many. Chosen."""
_CONTEXTS: Final = frozenset({"@context", "@import"})


@dataclass(frozen=True, slots=True)
class Text:
    """A literal with its language; "" where it tells none."""

    text: str
    language: str = ""


class Statement(NamedTuple):
    """What is said: of whom, by which predicate, and another resource's address or a text."""

    subject: str
    predicate: str
    value: str | Text


def rdf_statements(data: bytes, name: str, predicates: Collection[str]) -> list[Statement]:
    """The statements of a document that have one of these predicates.

    Args:
        data: Turtle, RDF/XML, or JSON-LD, told by its first character.
        name: of the file, for people.
        predicates: their addresses.

    Returns:
        Statements in the order of the document, each once. Addresses that the document gives relative to itself are
        relative here, too.

    Raises:
        FormatError: it cannot be read as RDF, would fetch something, or says too much.
    """
    start = data.lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
    if start == b"<" and _is_xml(data):
        check_parts(data.count(b"<"), name)
        xml_tree(data, name)  # refuses what expands, in words for people
        return _collected(lambda graph: _parse_xml(data, graph), name, predicates)
    text = decoded(data, name)
    if start in {b"{", b"["}:
        document = _json_without_fetching(text, name)
        return _collected(lambda graph: _parse_json(document, graph), name, predicates)
    return _collected(lambda graph: _parse_turtle(text, graph), name, predicates)


# The readers are named here, not looked up in the library by format: a packaged program would lack them.


def _parse_xml(data: bytes, graph: "Graph") -> None:
    from rdflib.parser import StringInputSource
    from rdflib.plugins.parsers.rdfxml import RDFXMLParser

    reader: Parser = RDFXMLParser()  # type: ignore[no-untyped-call]
    reader.parse(StringInputSource(data, system_id=BASE), graph)


def _parse_turtle(text: str, graph: "Graph") -> None:
    from rdflib.parser import StringInputSource
    from rdflib.plugins.parsers.notation3 import TurtleParser

    reader: Parser = TurtleParser()  # type: ignore[no-untyped-call]
    reader.parse(StringInputSource(text, system_id=BASE), graph)


def _parse_json(document: Any, graph: "Graph") -> None:
    from rdflib.plugins.parsers.jsonld import to_rdf

    to_rdf(document, graph, base=BASE)


def _is_xml(data: bytes) -> bool:
    """Whether it is XML; Turtle may begin with an address in the same bracket."""
    head = data[:2_000].lower()
    return b"<?xml" in head or b"<rdf:rdf" in head or b"<!doctype" in head or b"<!--" in head


def _collected(parse: "Callable[[Graph], None]", name: str, predicates: Collection[str]) -> list[Statement]:
    from xml.sax import SAXException

    from rdflib.exceptions import Error

    logging.getLogger("rdflib").setLevel(logging.ERROR)  # it warns of each address with a blank in it
    graph, found = _graph(name, frozenset(predicates))
    try:
        parse(graph)
    except RecursionError as error:
        raise FormatError("{name} is nested too deeply", remedy="write it flat", name=name) from error
    except (
        Error,
        SAXException,
        SyntaxError,
        ValueError,
        LookupError,
        TypeError,
        AttributeError,
        AssertionError,
    ) as error:
        reason = " ".join(str(error).split())[:200]
        raise FormatError(
            "{name} cannot be read as RDF", expected="Turtle, RDF/XML or JSON-LD", found=reason, name=name
        ) from error
    return list(dict.fromkeys(found))


def _graph(name: str, predicates: frozenset[str]) -> "tuple[Graph, list[Statement]]":
    """A graph that keeps nothing, and the list that the wanted statements go to."""
    from rdflib import Graph, Literal
    from rdflib.plugins.stores.memory import Memory

    found: list[Statement] = []

    class WantedStatements(Memory):
        """Takes what parsers find, and keeps what is wanted."""

        def add(self, triple: Any, _context: Any, quoted: bool = False) -> None:  # noqa: ARG002 (the library names it)
            subject, predicate, value = triple
            if str(predicate) not in predicates:
                return
            if len(found) == MOST_STATEMENTS:
                raise FormatError(
                    "{name} says more than a taxonomy does",
                    expected="at most {limit:,} statements",
                    name=name,
                    limit=MOST_STATEMENTS,
                )
            is_text = isinstance(value, Literal)
            value_node = Text(str(value), value.language or "") if is_text else _address(value)
            found.append(Statement(_address(subject), str(predicate), value_node))

    return Graph(store=WantedStatements()), found


def _address(resource: Any) -> str:
    return str(resource).removeprefix(BASE)


def _json_without_fetching(text: str, name: str) -> Any:
    """The document, if it says itself what its words mean."""
    document = json_document(text, name)
    waiting = [document]
    while waiting:
        value = waiting.pop()
        if isinstance(value, list):
            waiting.extend(value)
        elif isinstance(value, dict):
            for key, inner in value.items():
                waiting.append(inner)
                contexts = inner if isinstance(inner, list) else [inner]
                elsewhere = next((each for each in contexts if key in _CONTEXTS and isinstance(each, str)), None)
                if elsewhere is not None:
                    raise FormatError(
                        "{name} takes the meaning of its words from elsewhere, and nothing is fetched",
                        found=f'"{key}": "{elsewhere[:100]}"',
                        remedy="write that context into the file, or save it as Turtle",
                        name=name,
                    )
    return document
