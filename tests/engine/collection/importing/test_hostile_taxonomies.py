"""Broken and hostile taxonomy files: one clear error, little memory, an unchanged project."""

import tracemalloc
import zipfile
from pathlib import Path

import pytest

from engine.collection.importing.import_graph import import_graph
from engine.errors import FormatError, ProtoleafError
from engine.interchange import limits
from engine.interchange.detect import FORMATS
from tests.support.projects import bird_project, dump

BILLION = 1_000_000_000
READERS = sorted(set(FORMATS) - {"folders"})
ENTITIES = "".join(f'<!ENTITY l{level} "{f"&l{level - 1};" * 10}">' for level in range(1, 10))
LAUGHS = f'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY l0 "ha">{ENTITIES}]>'
OUTSIDE = '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY l9 SYSTEM "file:///etc/hostname">]>'
CONTENTS = {
    "bomb.graphml": LAUGHS + "<graphml><graph><node id='&l9;'/></graph></graphml>",
    "bomb.rdf": LAUGHS
    + '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">&l9;</rdf:RDF>',
    "bomb.xml": LAUGHS + "<View><Taxonomy><Choice value='&l9;'/></Taxonomy></View>",
    "outside.graphml": OUTSIDE + "<graphml><graph><node id='&l9;'/></graph></graphml>",
    "outside.xml": OUTSIDE + "<View><Taxonomy><Choice value='&l9;'/></Taxonomy></View>",
    "circle.csv": "child,parent\nA,B\nB,A\n",
    "circle.obo": "[Term]\nid: A\nis_a: B\n\n[Term]\nid: B\nis_a: A\n",
    "half.json": '{"classes": [{"id": 1, "name": "A"',
    "half.ttl": "@prefix skos: <http://www.w3.org/2004/02/skos/core#> . <#a> skos:prefLabel",
}


@pytest.mark.parametrize("name", CONTENTS)
def test_what_is_broken(name: str, tmp_path: Path) -> None:
    """Cycles, truncated files, and XML with entity expansion or external entities."""
    (tmp_path / name).write_text(CONTENTS[name], encoding="utf-8")
    with bird_project(tmp_path)[0] as project:
        before = dump(project)
        with pytest.raises(ProtoleafError) as caught:
            import_graph(project, tmp_path / name)
        assert dump(project) == before
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize("graph_format", READERS)
def test_a_line_of_a_gigabyte(graph_format: str, tmp_path: Path) -> None:
    """It is refused by its size and not read."""
    source = tmp_path / "line"
    with source.open("wb") as file:
        file.truncate(BILLION)
    (tmp_path / "words.txt").write_text("n00000001\tBird\n", encoding="utf-8")
    with bird_project(tmp_path)[0] as project:
        before = dump(project)
        tracemalloc.start()
        with pytest.raises(
            FormatError,
            match=r"line is too large for a taxonomy: expected at most 64 MiB, found 953 MiB",
        ):
            import_graph(project, source, graph_format=graph_format)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert dump(project) == before
    assert peak < 4 * 2**20


@pytest.mark.parametrize(
    ("graph_format", "content"),
    [
        ("json", "[" + "[]," * 60 + "[]]"),
        ("cvat", "[" + "{}," * 60 + "{}]"),
        ("skos", "[" + "{}," * 60 + "{}]"),
        ("skos", '<?xml version="1.0"?><rdf:RDF>' + "<a/>" * 120 + "</rdf:RDF>"),
        ("graphml", "<graphml>" + "<a/>" * 120 + "</graphml>"),
        ("label-studio", "<View>" + "<a/>" * 120 + "</View>"),
        ("csv", "child,parent\n" + "a,b\n" * 60),
        ("darwin-core", "taxonID,scientificName\n" + "1,A\n" * 60),
        ("obo", "[Term]\n" * 60),
        ("imagenet", "a b\n" * 60),
        ("wordnet", "\n" * 60),
    ],
)
def test_small_parts_without_end(
    graph_format: str, content: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Many tiny elements, which would take much memory, are counted before parsing."""
    monkeypatch.setattr(limits.TAXONOMY_PARTS, "most", 100)
    (tmp_path / "source").write_text(content, encoding="utf-8")
    with bird_project(tmp_path)[0] as project:
        before = dump(project)
        with pytest.raises(
            FormatError, match=r"source contains more than a taxonomy: expected at most 100 "
        ):
            import_graph(project, tmp_path / "source", graph_format=graph_format)
        assert dump(project) == before


@pytest.mark.slow
def test_an_archive_that_says_a_wrong_size(tmp_path: Path) -> None:
    """Decompression stops at the declared size."""
    source = tmp_path / "checklist.zip"
    with zipfile.ZipFile(source, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("Taxon.tsv", b"\0" * (limits.TAXONOMY_BYTES.most + 2**20))
    data = source.read_bytes()
    size = (limits.TAXONOMY_BYTES.most + 2**20).to_bytes(4, "little")
    assert data.count(size) >= 1
    source.write_bytes(data.replace(size, (100).to_bytes(4, "little")))
    with (
        bird_project(tmp_path)[0] as project,
        pytest.raises(FormatError, match=r"checklist.zip|Taxon.tsv"),
    ):
        import_graph(project, source)


@pytest.mark.parametrize("graph_format", READERS)
@pytest.mark.parametrize(
    "content", ["Чайка\n".encode("cp1251"), b"\x00\x01\x02" * 50, b"PK\x03\x04 no archive", b""]
)
def test_other_encodings_and_noise(graph_format: str, content: bytes, tmp_path: Path) -> None:
    """Other encodings and noise are refused in every format."""
    source = tmp_path / "noise"
    source.write_bytes(content)
    (tmp_path / "words.txt").write_text("n00000001\tBird\n", encoding="utf-8")
    with bird_project(tmp_path)[0] as project:
        before = dump(project)
        for named in (graph_format, "auto"):
            with pytest.raises(FormatError):
                import_graph(project, source, graph_format=named)
        assert dump(project) == before
