"""Limits of untrusted files, for memory and time.

A small file may unpack to a large one. All limits are far above the needs of a collection of 2.5
million images, and are checked before the memory is allocated.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar, final

from engine.errors import FormatError
from engine.files import size_text
from engine.texts import marked

LONGEST_LINE = 4 * 2**20  # characters of a line in memory; our rows have some hundred
LONGEST_CELL = 128 * 2**10  # characters, as in Python's `csv`; a spreadsheet allows 32,767
LARGEST_JSON_BYTES = 512 * 2**20
"""Of a JSON file in memory: our COCO file of 600,000 images. JSON lines have no such limit."""
MOST_KEYWORDS = 10_000  # of one photo; a few dozen are usual


@final
@dataclass
class Limit:
    """Maximum amount that is read of a source, and the error about more.

    Attributes:
        most: characters, bytes or items.
        what: template of the error with `name`.
        expected: template with `limit`.
        found: template with `count`, or "".
        remedy: for the user.
        unit: formats numbers.
    """

    most: int
    what: str
    expected: str
    found: str = ""
    remedy: str = ""
    unit: Callable[[int], object] = int

    def check(self, count: int, name: str) -> None:
        """Check an amount.

        Raises:
            FormatError: it exceeds the limit.
        """
        if count > self.most:
            raise FormatError(
                self.what,
                expected=self.expected,
                found=self.found,
                remedy=self.remedy,
                name=name,
                limit=self.unit(self.most),
                count=self.unit(count),
            )


def _mebibytes(size_bytes: int) -> int:
    return size_bytes // 2**20


_AT_MOST = marked("at most {limit:,}")
_AT_MOST_MIB = marked("at most {limit} MiB")
_FOUND_MIB = "{count:,} MiB"
_MORE = marked("more")
_DIVIDE = marked("divide it into several files, and import one after the other")
_TAKE_PART = marked("use only the part that you need")

RECORDS = Limit(5_000_000, marked("{name} has too many rows"), _AT_MOST, _MORE, _DIVIDE)
"""Rows, labels or images of a source: twice the largest collection.

A record in memory takes about 700 bytes, so this many take 3.5 GB.
"""
TABLE_BYTES = Limit(
    4 * 2**30,
    marked("{name} is too large to be read"),
    marked("at most {limit}"),
    "{count}",
    _DIVIDE,
    size_text,
)
"""Of an unpacked table, which is streamed: five million of our rows with all columns take 3 GB."""
TEXT = Limit(
    2**30,
    marked("the paths and names in {name} are too long to be held"),
    marked("at most {limit:,} characters in all"),
    _MORE,
    _DIVIDE,
)
"""Characters of the cells of a table in memory: two hundred for each of five million rows."""
JSON_VALUES = Limit(
    30_000_000,
    marked("{name} has too many values"),
    _AT_MOST,
    "{count:,}",
    marked("divide it into several files, or take JSON lines, CSV or Parquet"),
)
"""Of a JSON file; small values take up to forty times their size, 120 bytes each."""
XML_TAGS = Limit(
    4_000_000, marked("{name} has too many elements"), marked("at most {limit:,} tags"), "{count:,}"
)
"""Of a document in memory, where an element takes some hundred bytes."""
XML_DEPTH = Limit(250, marked("{name} is nested too deep"), marked("at most {limit} levels"))
"""Nested elements; lxml allows 256."""
XML_PART_BYTES = Limit(
    16 * 2**20,
    marked("a part of {name} is too large"),
    marked("at most {limit} MiB for one image and its annotations"),
    unit=_mebibytes,
)
"""Of one part of a streamed XML document: an image with its tags. Ours take kilobytes."""
DOCUMENT_BYTES = Limit(
    64 * 2**20,
    marked("{name} is too large for such a file"),
    _AT_MOST_MIB,
    _FOUND_MIB,
    unit=_mebibytes,
)
"""Of a document; develop settings with hundreds of brush strokes take a few megabytes."""
FILE_LIST_BYTES = Limit(
    16 * 2**20,
    marked("{name} contains too many files"),
    marked("a list of at most {limit} MiB"),
    _FOUND_MIB,
    marked("unpack it, and pack what you need"),
    _mebibytes,
)
"""Of an archive's list of files: 160,000 with names of 60 bytes, or 300,000 with short names.

They take 190 MB in memory. An export of CVAT may contain its images.
"""
WORKBOOK_BYTES = Limit(
    256 * 2**20,
    marked("the workbook {name} is too large to be read"),
    marked("at most {limit}, unpacked"),
    "{count}",
    marked("save its sheet as CSV"),
    size_text,
)
"""Of an unpacked workbook in memory; 250,000 rows with ten columns take half as much."""
WORKBOOK_CELLS = Limit(
    4_000_000,
    marked("a sheet of the workbook {name} has too many cells"),
    marked("at most {limit:,}, from the first to the last that is filled"),
    remedy=marked("delete cells far from the table, or save it as CSV"),
)
"""Of one sheet; each takes some fifty bytes, also a blank one."""
TAXONOMY_BYTES = Limit(
    64 * 2**20,
    marked("{name} is too large for a taxonomy"),
    _AT_MOST_MIB,
    _FOUND_MIB,
    _TAKE_PART,
    _mebibytes,
)
"""Of one file; WordNet's nouns take 15 MiB, the Gene Ontology 35, a million rows fit. Chosen."""
TAXONOMY_PARTS = Limit(
    4_000_000,
    marked("{name} contains more than a taxonomy"),
    marked("at most {limit:,} values, elements or quarters of lines"),
    "{count:,}",
    _TAKE_PART,
)
"""Of one file; WordNet's nouns with their glosses are one million.

Small parts take many times their size in memory. Chosen.
"""
STATEMENTS = Limit(
    1_000_000,
    marked("{name} has too many statements for a taxonomy"),
    marked("at most {limit:,} statements"),
)
"""Of one file; 40,000 concepts in a dozen languages have half as many. Chosen."""

Record = TypeVar("Record")


def at_most(records: Iterable[Record], name: str) -> Iterator[Record]:
    """Iterate over at most `RECORDS` records; FormatError if there are more."""
    for number, record in enumerate(records):
        RECORDS.check(number + 1, name)
        yield record
