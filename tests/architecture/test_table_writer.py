"""Tables are written by `engine.interchange.table_writer` only, which escapes cells."""

import ast
from collections.abc import Iterator

from tests.architecture.source_code import Module, findings, rule

WRITERS = {"writer", "DictWriter"}
ALLOWED = {"engine/interchange/table_writer.py"}


@rule("app", "engine", "protoleaf_cluster")
def csv_writers(module: Module) -> Iterator[str]:
    """Names by which a module creates writers of `csv`."""
    modules = {
        alias.asname or alias.name
        for node in module.of_type(ast.Import)
        for alias in node.names
        if alias.name == "csv"
    }
    for node in module.of_type(ast.ImportFrom, ast.Attribute):
        if isinstance(node, ast.ImportFrom) and node.module == "csv":
            yield from (alias.name for alias in node.names if alias.name in WRITERS)
        elif (
            isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and node.value.id in modules
        ):
            yield from {node.attr} & WRITERS


def test_every_way_to_a_writer_is_seen() -> None:
    """Also imports under another name, and of the writer itself."""
    for source in (
        "import csv\ncsv.writer(x)",
        "import csv as c\nc.DictWriter(x)",
        "from csv import writer",
    ):
        assert list(csv_writers(Module("m.py", source))), source
    assert not list(csv_writers(Module("m.py", "import csv\ncsv.reader(x)")))


def test_only_one_module_writes_tables() -> None:
    """Another module's tables would have cells that a spreadsheet runs."""
    assert findings(csv_writers).keys() == ALLOWED
