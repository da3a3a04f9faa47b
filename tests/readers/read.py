"""Read the sample with every reader and print the table, in the environment of the readers.

Run: python -m tests.readers.read FOLDER; the exit status is 1 if something differs.
"""

import json
import sys
from pathlib import Path

from tests.readers import annotation_tools, fiftyone_data_sets, label_studio_server, nature, tables
from tests.readers.readings import READERS, row_of, table

MODULES = (tables, annotation_tools, fiftyone_data_sets, label_studio_server, nature)
"""Modules that register readers."""


def main(sample: Path, names: list[str]) -> int:
    """Read, compare and print all or named formats."""
    expected = json.loads((sample / "expected.json").read_text(encoding="utf-8"))
    chosen = [reader for reader in READERS if not names or reader.format_name in names]
    rows = [row_of(reader, sample, expected) for reader in chosen]
    sys.stdout.write(f"{table(rows)}\n")
    return int(not all(row.is_equal for row in rows))


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))
