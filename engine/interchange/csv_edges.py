"""Writes a graph as a table: one row for each edge from `parent` to `child`, a root with an empty parent.

The ids tell the classes apart, so several may have one name; attributes of a class stand in the first of its rows, and
its `identity` in all. `engine.interchange.taxonomies.class_tables` reads it.
"""

import io
import re
from typing import Final

from engine.graph.class_attributes import IN_FILES
from engine.interchange.imported import ImportedGraph
from engine.interchange.table_writer import write_table

BETWEEN_SYNONYMS: Final = " | "
_COLUMNS: Final = (
    "child",
    "parent",
    "id",
    "parent_id",
    *(each.name for each in IN_FILES),
    "identity",
)
HEADER: Final = ",".join(_COLUMNS[:-1])  # how the first line of a table that we write begins
_SEPARATING: Final = re.compile(r"([\\|])")


def written(graph: ImportedGraph) -> str:
    """A graph as such a table, safe to open in a spreadsheet; attributes of a class are in the first of its rows."""
    names = {each.key: each.name for each in graph.classes}
    parents = graph.parent_keys
    text = io.StringIO()
    rows = list[tuple[str, ...]]()
    for each in graph.classes:
        attributes = [_cell(attribute.of(each.attributes)) for attribute in IN_FILES]
        for parent in parents[each.key] or [""]:
            rows.append(
                (each.name, names.get(parent, ""), each.key, parent, *attributes, each.identity)
            )
            attributes = [""] * len(IN_FILES)
    write_table(text, _COLUMNS, rows, line_end="\n")
    return text.getvalue()


def _cell(value: str | tuple[str, ...]) -> str:
    return (
        value
        if isinstance(value, str)
        else BETWEEN_SYNONYMS.join(_SEPARATING.sub(r"\\\1", each) for each in value)
    )
