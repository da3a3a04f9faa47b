"""Words of a dialect of our own that were replaced by the field's, and do not come back as names in the code."""

import tokenize
from pathlib import Path

ROOT = Path(__file__).parents[2]
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


def words_of(name: str) -> set[str]:
    """The words of a name, in snake case or camel case."""
    parts = name.strip("_").lower().split("_")
    return {*parts, "".join(parts)}


def retired_names(path: Path) -> list[str]:
    """Names of a module that hold a retired word."""
    with path.open("rb") as file:
        names = {token.string for token in tokenize.tokenize(file.readline) if token.type == tokenize.NAME}
    return sorted(name for name in names - PHRASES if words_of(name) & RETIRED.keys())


def test_no_name_holds_a_retired_word() -> None:
    """In the product and the laboratory."""
    modules = [path for folder in ("app", "engine", "research") for path in (ROOT / folder).rglob("*.py")]
    found = {path.relative_to(ROOT).as_posix(): names for path in modules if (names := retired_names(path))}
    assert found == {}
    assert not [path for path in modules if words_of(path.stem) & RETIRED.keys()]


def test_names_are_cut_into_words() -> None:
    """So that a retired word is found in any spelling."""
    assert words_of("_has_told") == {"has", "told", "hastold"}
    assert words_of("GivingWay") == {"givingway"}
