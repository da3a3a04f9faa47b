"""How much is read of a file from outside, before memory or patience is at its end.

A small file may unpack to a large one, and a large one may be no collection at all. Each limit is far above what a
collection of 2.5 million images takes, and is asked before that much is held. Those of a taxonomy are in
`engine.interchange.taxonomy_file`.
"""

from collections.abc import Iterable, Iterator
from typing import Final, TypeVar

from engine.errors import FormatError
from engine.files import size_text

MOST_RECORDS: Final = 5_000_000
"""Rows, labels or images of one source: twice the images of the largest collection. A record that is held takes about
700 bytes, so this many take 3.5 GB."""
LARGEST_TABLE_BYTES: Final = 4 * 2**30
"""Of a table, unpacked, which is read row by row: five million rows of our own with every column take 3 GB."""
LONGEST_LINE: Final = 4 * 2**20  # characters; a line is held as a whole. A row of ours has some hundred.
LONGEST_CELL: Final = 128 * 2**10  # characters, as Python's `csv` has it; a spreadsheet holds 32,767
LARGEST_JSON_BYTES: Final = 512 * 2**20
"""Of a JSON file that is held as a whole; a COCO file of ours with 600,000 images. Lines of JSON have no such limit."""
MOST_JSON_VALUES: Final = 30_000_000
"""Values of such a file; small ones take up to forty times their size in memory, 120 bytes each."""
LARGEST_PART_BYTES: Final = 16 * 2**20
"""Of one part of an XML document that is read part by part: an image with its tags. Ours take kilobytes."""
DEEPEST_XML: Final = 250  # elements within one another; lxml holds to 256
LARGEST_FILE_LIST_BYTES: Final = 16 * 2**20
"""Of an archive's list of its files, which is held: 160,000 files of names of 60 bytes, or 300,000 of short names, and
190 MB in memory. An export of CVAT may hold its images."""
MOST_XML_TAGS: Final = 4_000_000  # of a document that is held as a whole, where an element takes some hundred bytes
LARGEST_WORKBOOK_BYTES: Final = 256 * 2**20
"""Of a workbook, unpacked, which is held as a whole: a sheet of 250,000 rows with ten columns takes half as much."""
MOST_WORKBOOK_CELLS: Final = 4_000_000
"""Of one sheet, from the first to the last that is filled; each takes some fifty bytes, blank ones too."""
MOST_TEXT: Final = 2**30
"""Characters of all cells of a table that labels are read from, which are held: two hundred a row of five million."""
MOST_KEYWORDS: Final = 10_000  # of one photo. People give a few dozen.


Record = TypeVar("Record")


def at_most(records: Iterable[Record], name: str) -> Iterator[Record]:
    """The records, of which there are at most `MOST_RECORDS`; FormatError where there are more."""
    for number, record in enumerate(records):
        check_count(number + 1, name)
        yield record


def check_count(count: int, name: str) -> None:
    """Raise FormatError for a source with more than `MOST_RECORDS` records."""
    if count > MOST_RECORDS:
        raise FormatError(
            "{name} has too many rows",
            expected="at most {limit:,}",
            found="more",
            remedy="divide it into several files, and import one after the other",
            name=name,
            limit=MOST_RECORDS,
        )


def check_tags(data: bytes, name: str) -> None:
    """Raise FormatError for an XML document with more than `MOST_XML_TAGS` tags."""
    count = data.count(b"<")
    if count > MOST_XML_TAGS:
        raise FormatError(
            "{name} has too many elements",
            expected="at most {limit:,} tags",
            found=f"{count:,}",
            name=name,
            limit=MOST_XML_TAGS,
        )


def check_json(text: str, name: str) -> None:
    """Raise FormatError for a JSON document with more than `MOST_JSON_VALUES` values."""
    count = sum(map(text.count, ",[{"))
    if count > MOST_JSON_VALUES:
        raise FormatError(
            "{name} has too many values",
            expected="at most {limit:,}",
            found=f"{count:,}",
            remedy="divide it into several files, or take JSON lines, CSV or Parquet",
            name=name,
            limit=MOST_JSON_VALUES,
        )


def check_text(characters: int, name: str) -> None:
    """Raise FormatError for a source whose paths and names have more than `MOST_TEXT` characters."""
    if characters > MOST_TEXT:
        raise FormatError(
            "the paths and names in {name} are too long to be held",
            expected="at most {limit:,} characters in all",
            found="more",
            remedy="divide it into several files, and import one after the other",
            name=name,
            limit=MOST_TEXT,
        )


def check_bytes(size_bytes: int, name: str) -> None:
    """Raise FormatError for a table with more than `LARGEST_TABLE_BYTES`, unpacked."""
    if size_bytes > LARGEST_TABLE_BYTES:
        raise FormatError(
            "{name} is too large to be read",
            expected="at most {limit}",
            found=size_text(size_bytes),
            remedy="divide it into several files, and import one after the other",
            name=name,
            limit=size_text(LARGEST_TABLE_BYTES),
        )
