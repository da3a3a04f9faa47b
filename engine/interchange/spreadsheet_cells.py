"""Texts in tables that a spreadsheet may open, so that it shows them and runs none, and so that they come back.

A spreadsheet takes a cell that begins with one of a few signs for a formula, and a formula may fetch from the network
or start a program; names of files and classes come from anywhere. Such a text gets an apostrophe before it. A text that
already has apostrophes there gets one more, so taking one away always gives the text back.
"""

import re
from typing import Final

APOSTROPHE: Final = "'"
_RUNS: Final = re.compile(r"'*\s*[=+\-@\t\r\n＝＋－＠]")  # noqa: RUF001 (spreadsheets read the wide signs as well)


def guarded(text: str) -> str:
    """A text as it may stand in a table: with an apostrophe before it where a spreadsheet would run it."""
    return APOSTROPHE + text if _RUNS.match(text) else text


def unguarded(cell: str) -> str:
    """The text that `guarded` was given; a cell that no apostrophe guards stays as it is."""
    return cell[1:] if cell.startswith(APOSTROPHE) and _RUNS.match(cell) else cell


def storable(text: str) -> str:
    """A text that UTF-8 with `surrogateescape` can write; what is no Unicode is then read back as the same bytes.

    Windows allows halves of character pairs in file names, and that handler knows only those which stand for bytes.
    """
    try:
        text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass").decode("utf-8", "surrogateescape")
    return text
