"""Writer of a graph as a table of edges from `parent` to `child`; a root has an empty parent.

Ids distinguish classes of the same name. Attributes of a class are in the first of its rows, its
`identity` is in all. The reader is `engine.interchange.taxonomies.class_tables`.
"""

import io
import re

from engine.graph.class_attributes import IN_FILES
from engine.interchange.imported import ImportedGraph
from engine.interchange.table_writer import write_table

BETWEEN_SYNONYMS = " | "
_COLUMNS = (
    "child",
    "parent",
    "id",
    "parent_id",
    *(each.name for each in IN_FILES),
    "identity",
)
HEADER = ",".join(_COLUMNS[:-1])  # beginning of our tables
_SEPARATING = re.compile(r"([\\|])")


def to_csv(graph: ImportedGraph) -> str:
    """Write a graph as CSV that is safe in spreadsheets."""
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
