"""Every table goes through one writer, and no cell of one is run by a spreadsheet."""

import csv
import io

import pytest

from engine.interchange.table_writer import table_cell, unguarded, write_table


def test_cells_are_guarded_and_come_back() -> None:
    """Texts that would run get an apostrophe; None is an empty cell."""
    text = io.StringIO(newline="")
    write_table(text, ("class", "note"), [("=cmd|' /C calc'!A0", None), ("Gull", "+1+1")])
    rows = list(csv.reader(io.StringIO(text.getvalue(), newline="")))
    assert rows == [["class", "note"], ["'=cmd|' /C calc'!A0", ""], ["Gull", "'+1+1"]]
    assert unguarded(rows[1][0]) == "=cmd|' /C calc'!A0"


@pytest.mark.parametrize("number", ["-33.918861", "-0.5", "+12", "1e-7", "-40"])
def test_numbers_stay_numbers(number: str) -> None:
    """A place south of the equator is read as a number by whoever opens the table."""
    assert table_cell(number) == unguarded(table_cell(number)) == number


@pytest.mark.parametrize("text", ["-40 °C", "-1+2", "+1-cmd", "'-5", "-", "-.", "-1e", "٣-"])
def test_what_is_no_plain_number_comes_back(text: str) -> None:
    """Only digits make a number; all other texts are guarded where they begin with a sign."""
    assert unguarded(table_cell(text)) == text
    assert table_cell(text)[:1] not in set("=+-@")


def test_names_are_plain_where_a_person_requests_it() -> None:
    """Scripts of their own may want the names as they are."""
    text = io.StringIO(newline="")
    write_table(text, ("image",), [("=1.jpg",)], is_plain=True, line_end="\n")
    assert text.getvalue() == "image\n=1.jpg\n"
