"""Tables of child and parent."""

from pathlib import Path

import pytest

from engine.errors import FormatError, StorageError
from engine.graph.class_attributes import NO_ATTRIBUTES, ClassAttributes
from engine.interchange import csv_edges

BIRDS = {("Animal", "Bird"), ("Bird", "Gull"), ("Bird", "Puffin"), ("Diver", "Puffin")}


def file_of(folder: Path, text: str, encoding: str = "utf-8") -> Path:
    """Write a table byte by byte as given."""
    path = folder / "birds.csv"
    path.write_bytes(text.encode(encoding))
    return path


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_what_spreadsheets_write(tmp_path: Path, encoding: str, delimiter: str, end: str) -> None:
    """Any delimiter, line end and byte order mark; columns in any order; blank lines and other columns do no harm."""
    rows = [
        ["Note", '"Parent"', " CHILD "],
        ["", "Animal", "Bird"],
        [],
        ["seen, twice" if delimiter != "," else "", "Bird", "Gull"],
        ["", "Bird", '"Puffin"'],
        ["", " Diver ", "Puffin"],
        ["", "", ""],
    ]
    text = end.join(delimiter.join(row) for row in rows)
    graph = csv_edges.read(file_of(tmp_path, text, encoding))
    assert set(graph.edges) == BIRDS
    assert {each.name for each in graph.classes} == {"Animal", "Bird", "Gull", "Puffin", "Diver"}


def test_roots_and_repeated_rows(tmp_path: Path) -> None:
    """An empty parent makes a root, a short row too; a row that comes twice counts once."""
    graph = csv_edges.read(file_of(tmp_path, "child,parent\nAnimal,\nPlant\nBird,Animal\nBird,Animal\n"))
    assert [each.key for each in graph.classes] == ["Animal", "Plant", "Bird"]
    assert graph.edges == (("Animal", "Bird"),)


def test_quoted_names(tmp_path: Path) -> None:
    """Quotes keep delimiters inside a name."""
    graph = csv_edges.read(file_of(tmp_path, 'child,parent\n"Gull, great ""black-backed""",Bird\n'))
    assert graph.edges == (("Bird", 'Gull, great "black-backed"'),)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no header: .*an empty file"),
        ("name,above\na,b\n", 'no header: .*"name,above"'),
        ("child,parent\n", "holds no classes"),
        ("child,parent\nBird,Animal\n,Animal\n", "line 3 .*has no child"),
        ("child,parent\n\nAnimal,\nGull,Brid\nBird,Animal\n", 'line 4 .*parent "Brid", which has no row'),
        ("child,parent\nGull,Bird\nBird,Animal\nAnimal,Gull\n", "line 4 .*own ancestor: found .* > .* > .* > "),
        ("child,parent\nGull,Gull\n", "line 2 .*own ancestor: found Gull > Gull"),
        ("child,parent\nGull,Bi\x07rd\n", "line 2 .*control characters"),
        ("child,parent\n" + "x" * 300 + ",Bird\n", "line 2 .*too long"),
        ("child,parent\n" + "x" * 200_000 + ",Bird\n", "line 2 .*cannot be read as a table"),
        ('child,parent\n"Gull,Bird\nPuffin,Bird\n', "cannot be read as a table"),
    ],
)
def test_what_is_wrong_and_where(tmp_path: Path, text: str, message: str) -> None:
    """Each mistake is reported with its line."""
    with pytest.raises(FormatError, match=message):
        csv_edges.read(file_of(tmp_path, text))


def test_other_encodings_are_recognised(tmp_path: Path) -> None:
    """Text that is not UTF-8 is refused with the byte and line, not guessed at."""
    with pytest.raises(FormatError, match="UTF-8: found byte 0xf6 in line 2"):
        csv_edges.read(file_of(tmp_path, "child,parent\nMöwe,Vogel\n", "latin-1"))


def test_no_file(tmp_path: Path) -> None:
    """A missing file and a folder are storage trouble."""
    with pytest.raises(StorageError, match="cannot be read"):
        csv_edges.read(tmp_path / "none.csv")
    with pytest.raises(StorageError, match="cannot be read"):
        csv_edges.read(tmp_path)


def test_a_column_of_ids(tmp_path: Path) -> None:
    """The id is that of the child; where the rows of one class disagree they only number the rows."""
    text = "Id,child,parent\n5,Bird,Animal\n6,Gull,Bird\n,Gull,Diver\n8,Puffin,Bird\n9,Puffin,Diver\n"
    aliases = {each.name: each.attributes for each in csv_edges.read(file_of(tmp_path, text)).classes}
    assert (aliases["Bird"], aliases["Gull"]) == (ClassAttributes("5"), ClassAttributes("6"))
    assert aliases["Animal"] == aliases["Diver"] == aliases["Puffin"] == NO_ATTRIBUTES
    with pytest.raises(FormatError, match=r"line 2 of birds.csv: a source id cannot hold control characters"):
        csv_edges.read(file_of(tmp_path, "child,parent,id\nGull,Bird,a\x07b\n"))
