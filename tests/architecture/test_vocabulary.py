"""Words of a dialect of our own, replaced by the field's, do not come back in names, docstrings or comments."""

import ast
import re
import tokenize
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDERS = ("app", "engine", "protoleaf", "research", "tests", "packaging")
RETIRED = {
    "fates": "successors",
    "fate": "consequence",
    "kinship": "relatedness",
    "starving": "underlabelled",
    "givingway": "device fallback",
    "supposing": "what if",
    "supposition": "what if",
    "likeness": "similarity",
    "whereabouts": "missing images",
    "shelves": "subset list",
    "sight": "viewport",
    "told": "what it holds",
    "said": "what it holds",
}
"""Each with the term that took its place (docs/glossary.md)."""
PHRASES = {"bring_into_sight", "is_in_sight", "in_sight", "_bring_face_into_sight", "ROWS_IN_SIGHT"}
"""Plain English of names that mean nothing else."""

CIRCUMLOCUTIONS = re.compile(r"\b(told|asked for|likeliest|hears? of|(is|are|was|were) said)\b")
"""Of docstrings and comments: "reported", "requested", "most likely", "notified" are what a search finds."""


def words_of(name: str) -> set[str]:
    """The words of a name, in snake case or camel case."""
    parts = name.strip("_").lower().split("_")
    return {*parts, "".join(parts)}


def retired_names(path: Path) -> list[str]:
    """Names of a module that hold a retired word."""
    with path.open("rb") as file:
        names = {
            token.string
            for token in tokenize.tokenize(file.readline)
            if token.type == tokenize.NAME
        }
    return sorted(name for name in names - PHRASES if words_of(name) & RETIRED.keys())


def circumlocutions(path: Path) -> list[str]:
    """Lines of a module whose docstring or comment holds one."""
    source = path.read_text(encoding="utf-8")
    lines = source.splitlines()
    prose = {
        number
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
        for number in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }
    with path.open("rb") as file:
        tokens = [
            token for token in tokenize.tokenize(file.readline) if token.type == tokenize.COMMENT
        ]
    found = [
        lines[number - 1].strip()
        for number in sorted(prose)
        if CIRCUMLOCUTIONS.search(lines[number - 1])
    ]
    return found + [token.string for token in tokens if CIRCUMLOCUTIONS.search(token.string)]


def our_modules() -> list[Path]:
    """All of ours but this one, which lists the words."""
    return [
        path
        for folder in FOLDERS
        for path in (ROOT / folder).rglob("*.py")
        if path != Path(__file__)
    ]


def test_no_name_holds_a_retired_word() -> None:
    """Nor a file's name."""
    modules = our_modules()
    found = {
        path.relative_to(ROOT).as_posix(): names
        for path in modules
        if (names := retired_names(path))
    }
    assert found == {}
    assert not [path for path in modules if words_of(path.stem) & RETIRED.keys()]


def test_docstrings_and_comments_use_the_terms_that_a_search_finds() -> None:
    """In every folder."""
    modules = our_modules()
    assert {
        path.relative_to(ROOT).as_posix(): lines
        for path in modules
        if (lines := circumlocutions(path))
    } == {}


def test_docstrings_and_comments_are_searched(tmp_path: Path) -> None:
    """And nothing else: what stands on the screen is the person's language."""
    (tmp_path / "a.py").write_text(
        '"""Is told it."""\nX = "is told it"  # asked for\n', encoding="utf-8"
    )
    assert circumlocutions(tmp_path / "a.py") == ['"""Is told it."""', "# asked for"]


def test_names_are_cut_into_words() -> None:
    """So that a retired word is found in any spelling."""
    assert words_of("_has_told") == {"has", "told", "hastold"}
    assert words_of("GivingWay") == {"givingway"}
