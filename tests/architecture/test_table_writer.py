"""Tables are written in one place only, which guards every cell: `engine.interchange.table_writer`."""

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCES = sorted(path for folder in ("app", "engine") for path in (ROOT / folder).rglob("*.py"))
WRITERS = {"writer", "DictWriter"}
ALLOWED = {"engine/interchange/table_writer.py"}


def writers_in(source: str) -> Iterator[str]:
    """Names by which a module makes a writer of the module `csv`."""
    tree = ast.parse(source)
    modules = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for alias in node.names
        if alias.name == "csv"
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == "csv":
            yield from (alias.name for alias in node.names if alias.name in WRITERS)
        elif (
            isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and node.value.id in modules
        ):
            yield from {node.attr} & WRITERS


def test_every_way_to_a_writer_is_seen() -> None:
    """Imports under another name and of the writer itself as well."""
    for source in (
        "import csv\ncsv.writer(x)",
        "import csv as c\nc.DictWriter(x)",
        "from csv import writer",
    ):
        assert list(writers_in(source)), source
    assert not list(writers_in("import csv\ncsv.reader(x)"))


def test_only_one_module_writes_tables() -> None:
    """A table that another module wrote would have cells that a spreadsheet runs."""
    others = {
        str(path.relative_to(ROOT)): found
        for path in SOURCES
        if (found := sorted(writers_in(path.read_text(encoding="utf-8"))))
    }
    assert set(others) == ALLOWED, others
