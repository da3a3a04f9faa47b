"""Reading whatever a graph is given in."""

from pathlib import Path

import pytest

from engine.errors import FormatError, StorageError, UsageError
from engine.interchange.detect import FORMATS, detect_format, read_graph

SOURCES = {
    "csv": ("edges.CSV", "child;parent\nBird;Animal\n"),
    "json": ("tree.json", '{"name": "Animal", "children": ["Bird"]}'),
    "imagenet": ("hierarchy.txt", "n00000001 n00000002\n"),
    "folders": ("tree", ""),
    "label-studio": (
        "interface.xml",
        (
            '<View><Taxonomy name="t"><Choice value="Animal"><Choice value="Bird"/></Choice>'
            "</Taxonomy></View>"
        ),
    ),
    "darwin-core": (
        "taxon.tsv",
        "taxonID\tparentNameUsageID\tscientificName\n1\t\tAnimal\n2\t1\tBird\n",
    ),
    "list": ("labels.txt", "Animal\nBird\n"),
    "cvat": (
        "labels.json",
        '[{"name": "Animal", "attributes": []}, {"name": "Bird", "attributes": []}]',
    ),
    "fiftyone": ("labels.json", '{"classes": ["Animal", "Bird"], "labels": {"1": 0}}'),
    "skos": (
        "birds.ttl",
        (
            "@prefix skos: <http://www.w3.org/2004/02/skos/core#> .\n"
            '<#a> skos:prefLabel "Animal" . <#b> skos:broader <#a> ; skos:prefLabel "Bird" .'
        ),
    ),
    "graphml": (
        "birds.graphml",
        (
            '<graphml><graph edgedefault="directed"><node id="Animal"/><node id="Bird"/>'
            '<edge source="Animal" target="Bird"/></graph></graphml>'
        ),
    ),
    "obo": (
        "birds.obo",
        "[Term]\nid: B:1\nname: Animal\n\n[Term]\nid: B:2\nname: Bird\nis_a: B:1 ! Animal\n",
    ),
    "wordnet": (
        "data.noun",
        (
            "  1 This software and database is being provided to you\n"
            "00000001 03 n 01 Animal 0 001 ~ 00000002 n 0000 | lives\n"
            "00000002 05 n 01 Bird 0 001 @ 00000001 n 0000 | flies\n"
        ),
    ),
}


FLAT = {"cvat", "fiftyone", "list"}
"""Formats in which no class is above another."""


def make(folder: Path, name: str, *, suffix: bool = True) -> Path:
    """Make a small source of a format; without its suffix the content must tell."""
    file_name, text = SOURCES[name]
    path = folder / (file_name if suffix else "source")
    if name == "folders":
        (path / "Animal" / "Bird").mkdir(parents=True)
        return path
    (folder / "words.txt").write_text("n00000001\tAnimal\nn00000002\tBird\n", encoding="utf-8")
    path.write_text("\ufeff\n" + text if name != "json" else text, encoding="utf-8")
    return path


@pytest.mark.parametrize("suffix", [True, False])
@pytest.mark.parametrize("name", FORMATS)
def test_every_format_is_recognised(tmp_path: Path, name: str, suffix: bool) -> None:
    """By its suffix or by its content, and each gives the same two classes."""
    source = make(tmp_path, name, suffix=suffix)
    assert detect_format(source) == name
    for graph in (read_graph(source), read_graph(source, name)):
        assert sorted(each.name for each in graph.classes) == ["Animal", "Bird"]
        assert len(graph.edges) == (name not in FLAT)


def test_a_folder_with_the_hierarchy_in_it(tmp_path: Path) -> None:
    """The folder that holds wordnet.is_a.txt is read as such, not as nested folders."""
    make(tmp_path, "imagenet").rename(tmp_path / "wordnet.is_a.txt")
    assert [each.key for each in read_graph(tmp_path).classes] == ["n00000001", "n00000002"]


@pytest.mark.parametrize("name", FORMATS)
def test_parts_of_every_format(tmp_path: Path, name: str) -> None:
    """A branch or some classes can be taken from each."""
    source = make(tmp_path, name)
    assert [each.name for each in read_graph(source, under="Bird").classes] == ["Bird"]
    assert [each.name for each in read_graph(source, only=["Animal"]).classes] == ["Animal"]


def test_what_is_none_of_them(tmp_path: Path) -> None:
    """Unknown content, an empty file, an unknown format and nothing at all are distinguished."""
    path = tmp_path / "letter.txt"
    path.write_text("Dear all,\n", encoding="utf-8")
    with pytest.raises(
        FormatError, match=r'none of the known formats: expected one of folders, .*"Dear all,"'
    ):
        read_graph(path)
    path.write_text("", encoding="utf-8")
    with pytest.raises(FormatError, match="an empty file"):
        read_graph(path)
    path.write_bytes(b"\xfd\xfc\xfb\xfa\xf9\n")
    with pytest.raises(FormatError, match="UTF-8"):
        read_graph(path)
    with pytest.raises(UsageError, match='no graph format "xml"'):
        read_graph(path, "xml")
    with pytest.raises(StorageError, match="there is no"):
        read_graph(tmp_path / "none")
