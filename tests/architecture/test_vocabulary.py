"""Retired words do not occur in names, docstrings and comments."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

from tests.architecture.source_code import ALL, ROOT, Module, findings, rule

THIS = Path(__file__).relative_to(ROOT).as_posix()
"""The module that lists the words."""
RETIRED = {
    "fates": "successors",
    "fate": "consequence",
    "kinship": "relatedness",
    "starving": "underlabelled",
    "supposing": "what if",
    "supposition": "what if",
    "likeness": "similarity",
    "whereabouts": "missing images",
    "shelves": "subset list",
    "sight": "viewport",
    "told": "what it holds",
    "said": "what it holds",
    "givingway": "device fallback",
}
"""Each with its replacement (docs/glossary.md)."""
RETIRED_IN_PROGRAM = {
    "anew": "again, from scratch",
    "beside": "sibling, neighbour, near",
    "foot": "footer",
    "likeliest": "most frequent",
    "nobody": "anonymous",
    "wish": "options, requested",
    "worn": "applied",
}
"""Those that titles of tests may have."""
PHRASES = {"bring_into_sight", "is_in_sight", "in_sight", "_bring_face_into_sight", "ROWS_IN_SIGHT"}
"""Established English in names."""

CIRCUMLOCUTIONS = re.compile(r"\b(told|asked for|likeliest|hears? of|(is|are|was|were) said)\b")
"""In docstrings and comments; write "reported", "requested", "most likely", "notified"."""
RIDDLES = re.compile(
    r"\b(anew|nobody|all the same|of its own accord|says? of itself|gives? way"
    r"|(it|they|that|which|what) (is|are) (no|none)(?! (longer|more|better|such|of the classes)))\b"
)
"""In those of the program; write what happens, and when."""

TEXTS = re.compile(r"\b(anew|beside|(it|they|that|which) (is|are) no (?!longer|more))\b")
"""In texts of the program; write "again", "next to", "which is not a"."""

NAME_FIELDS = {"id", "attr", "arg", "name", "asname", "rest", "module"}
"""Fields of syntax nodes with an identifier."""


def words_of(name: str) -> set[str]:
    """The words of a name, in snake case or camel case."""
    parts = name.strip("_").lower().split("_")
    return {*parts, "".join(parts)}


@rule(*ALL)
def retired_names(module: Module) -> list[str]:
    """Names in a module, and its own, with a retired word."""
    if module.name == THIS:
        return []
    is_program = module.name.startswith(("app/", "engine/", "protoleaf/", "protoleaf_cluster/"))
    retired = RETIRED.keys() | (RETIRED_IN_PROGRAM if is_program else {})
    names = {Path(module.name).stem, *names_in(module)}
    return sorted(name for name in names - PHRASES if words_of(name) & retired)


def names_in(module: Module) -> Iterator[str]:
    """Every identifier."""
    for kind, nodes in module.nodes_by_type.items():
        for field in NAME_FIELDS.intersection(kind._fields):
            for node in nodes:
                name = getattr(node, field)
                if isinstance(name, str):
                    yield from name.split(".")


@rule(*ALL)
def circumlocutions(module: Module) -> list[str]:
    """Docstrings and comments with a circumlocution."""
    return [] if module.name == THIS else prose_with(CIRCUMLOCUTIONS, module)


@rule("app", "engine", "protoleaf", "protoleaf_cluster")
def riddles(module: Module) -> list[str]:
    """Docstrings and comments of the program that have to be guessed."""
    return prose_with(RIDDLES, module)


@rule("app", "engine", "protoleaf", "protoleaf_cluster")
def texts(module: Module) -> list[str]:
    """Texts with a word that sounds translated."""
    constants = (node.value for node in module.of_type(ast.Constant))
    return [value for value in constants if isinstance(value, str) and TEXTS.search(value)]


def prose_with(pattern: re.Pattern[str], module: Module) -> list[str]:
    """Lines of docstrings, and comments, that match a pattern."""
    if not pattern.search(module.text):
        return []
    lines = module.text.splitlines()
    docstrings = {
        number
        for node in module.of_type(ast.Expr)
        if isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        for number in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }
    tokens = tokenize.generate_tokens(io.StringIO(module.text).readline)
    prose = [
        *(lines[number - 1].strip() for number in sorted(docstrings)),
        *(token.string for token in tokens if token.type == tokenize.COMMENT),
    ]
    return [text for text in prose if pattern.search(text)]


def test_no_name_holds_a_retired_word() -> None:
    """Also names of files."""
    assert findings(retired_names) == {}


def test_docstrings_and_comments_use_the_terms_that_a_search_finds() -> None:
    """In every folder."""
    assert findings(circumlocutions) == {}
    assert findings(riddles) == {}


def test_texts_are_native_english() -> None:
    """Of the screen, the command line and logs."""
    assert findings(texts) == {}


def test_docstrings_and_comments_are_searched() -> None:
    """And nothing else, such as texts of the screen."""
    module = Module("a.py", '"""Is told it."""\nX = "is told it"  # asked for\n')
    assert circumlocutions(module) == ['"""Is told it."""', "# asked for"]


def test_names_are_cut_into_words() -> None:
    """So that a retired word is found in any spelling."""
    assert words_of("_has_told") == {"has", "told", "hastold"}
    assert words_of("GivingWay") == {"givingway"}
