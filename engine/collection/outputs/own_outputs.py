"""Recognises files that the program wrote itself: an earlier output of the same kind may be replaced without asking.

By content, never by name. What is merely of the same format is somebody else's; in doubt a file is not ours.
"""

import json
import re
import stat
import zipfile
from codecs import BOM_UTF8
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from engine.files import open_regular
from engine.interchange.csv_edges import HEADER as EDGES_HEADER
from engine.interchange.labelled_images.table_rows import COLUMNS as LABEL_COLUMNS
from engine.interchange.predictions_file import COLUMNS as PREDICTION_COLUMNS
from engine.interchange.predictions_file import LABELLED_BY

WRITTEN_BY: Final = "Written by Protoleaf"
"""Stands at the beginning of drawings and other texts that have room for a comment, and in pictures."""
PREDICTIONS: Final = "predictions"
FIGURES: Final = "figures"
_BEGINNING_BYTES: Final = 65_536
"""Chosen: a first line of JSON with the longest names fits."""
_LARGEST_METADATA: Final = 1_000_000
"""Bytes of an archive's description; ours have a few thousand."""


def is_own_output(path: Path, kind: str) -> bool:
    """Whether a file is an earlier output of a kind, or empty.

    Args:
        path: the file, or a link to it.
        kind: a key of `FORMATS`, "graph-" and a key of `GRAPH_FORMATS`, `PREDICTIONS` or `FIGURES`.
    """
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            return False
        with open_regular(path) as file:
            beginning = file.read(_BEGINNING_BYTES).removeprefix(BOM_UTF8)
        return not beginning or (kind in _RECOGNISED and _RECOGNISED[kind](path, beginning))
    except (OSError, ValueError, zipfile.BadZipFile, ImportError):
        return False


def _begins(*lines: str) -> Callable[[Path, bytes], bool]:
    starts = tuple(line.encode() for line in lines)
    return lambda _path, beginning: beginning.startswith(starts)


def _looks(pattern: str) -> Callable[[Path, bytes], bool]:
    compiled = re.compile(pattern.encode(), re.DOTALL)
    return lambda _path, beginning: compiled.match(beginning) is not None


def _is_own_json_lines(_path: Path, beginning: bytes) -> bool:
    row = json.loads(beginning.split(b"\n", 1)[0])
    return isinstance(row, dict) and tuple(row) == LABEL_COLUMNS


def _is_own_parquet(path: Path, beginning: bytes) -> bool:
    if not beginning.startswith(b"PAR1"):
        return False
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return tuple(pq.read_schema(path).names) == LABEL_COLUMNS
    except pa.ArrowException:
        return False


def _is_own_archive(path: Path, beginning: bytes) -> bool:
    if not beginning.startswith(b"PK\x03\x04"):
        return False
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        if names[:2] != ["meta.xml", "eml.xml"] or archive.getinfo("eml.xml").file_size > _LARGEST_METADATA:
            return False
        return b'system="Protoleaf"' in archive.read("eml.xml")


_PREDICTION_HEADER: Final = ",".join(PREDICTION_COLUMNS)

_RECOGNISED: Final[Mapping[str, Callable[[Path, bytes], bool]]] = {
    PREDICTIONS: _begins(f"{_PREDICTION_HEADER}\r\n", f"{_PREDICTION_HEADER},{LABELLED_BY}\r\n"),
    FIGURES: _begins(f'{{\n "about": "{WRITTEN_BY}",\n'),
    "csv": _begins(",".join(LABEL_COLUMNS) + "\r\n"),
    "jsonl": _is_own_json_lines,
    "parquet": _is_own_parquet,
    "coco": _looks(r'\{\n"info": \{"description": [^\n]*"contributor": "Protoleaf [^\n]*\},\n"licenses": \[\],\n'),
    "cvat": _looks(r"<\?xml [^\n]*\n<annotations>\n  <version>1.1</version>\n  <meta>\n    <task>\n      <name>"
                   r".*<mode>annotation</mode>.*<name>original_path</name>"),
    "darwin-core": _is_own_archive,
    "graph-json": _looks(r'\{"classes": \[\n\{"id": "'),
    "graph-csv": _begins(EDGES_HEADER + "\n"),
    "graph-graphml": _looks(r"<\?xml [^\n]*\n<graphml [^\n]*>\n  <key id=\"edges\" for=\"graph\" attr.name=\"edges\""),
    "graph-skos": _begins(f"# {WRITTEN_BY}\n"),
    "graph-dot": _begins(f"// {WRITTEN_BY}\n"),
    "graph-svg": _begins(f"<!-- {WRITTEN_BY} -->\n"),
    "graph-png": _looks(r"\x89PNG\r\n.*" + WRITTEN_BY),
}  # fmt: skip
