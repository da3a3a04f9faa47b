"""Files that unpack to more than expected: refused in one line, or read in part."""

import csv
import json
import zipfile
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from engine.errors import FormatError, StorageError
from engine.evaluation.truth_file import read_truth
from engine.files import EmbeddedKeywords
from engine.graph.category_graph import CategoryGraph
from engine.interchange import archives, limits
from engine.interchange.detect import detect_format
from engine.interchange.file_package import opened_package
from engine.interchange.labelled_images import (
    camtrap_dp_reading,
    coco,
    csv_table,
    cvat,
    darwin_core,
    json_lines,
    keywords,
    parquet,
)
from engine.interchange.labelled_images.formats import detect

DEEP = 100_000
ROWS = 12
META = """<archive xmlns="http://rs.tdwg.org/dwc/text/">\
<core rowType="http://rs.tdwg.org/dwc/terms/Occurrence"
 ignoreHeaderLines="1"><files><location>{}</location></files><id index="0"/>
 <field index="1" term="http://rs.tdwg.org/dwc/terms/scientificName"/>
 <field index="2" term="http://rs.tdwg.org/dwc/terms/associatedMedia"/></core></archive>"""


def _csv(folder: Path, rows: int) -> Path:
    path = folder / "labels.csv"
    path.write_text("image,class\n" + "a.jpg,Gull\n" * rows)
    return path


def _lines(folder: Path, rows: int) -> Path:
    path = folder / "labels.jsonl"
    path.write_text('{"image": "a.jpg", "class": "Gull"}\n' * rows)
    return path


def _parquet(folder: Path, rows: int) -> Path:
    path = folder / "labels.parquet"
    pq.write_table(pa.table({"image": ["a.jpg"] * rows, "class": ["Gull"] * rows}), path)
    return path


def _darwin_core(folder: Path, rows: int) -> Path:
    path = folder / "labels.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("meta.xml", META.format("t.csv"))
        archive.writestr("t.csv", "id,name,media\n" + "1,Gull,a.jpg\n" * rows)
    return path


def _many_media(folder: Path, rows: int) -> Path:
    """One occurrence of many images."""
    path = folder / "labels.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("meta.xml", META.format("t.csv"))
        archive.writestr(
            "t.csv",
            "id,name,media\n1,Gull," + "|".join(f"{number}.jpg" for number in range(rows)) + "\n",
        )
    return path


def _cvat(folder: Path, rows: int) -> Path:
    path = folder / "annotations.xml"
    entries = (f'<image name="{number}.jpg"><tag label="Gull"/></image>' for number in range(rows))
    path.write_text(f"<annotations>{''.join(entries)}</annotations>")
    return path


def _camtrap(folder: Path, rows: int) -> Path:
    tables = {
        "media": "mediaID,filePath\n1,a.jpg\n",
        "observations": "mediaID,scientificName\n" + "1,Gull\n" * rows,
    }
    for name, text in tables.items():
        (folder / f"{name}.csv").write_text(text)
    resources = [{"name": name, "path": f"{name}.csv"} for name in tables]
    (folder / "datapackage.json").write_text(
        json.dumps({"profile": "camtrap-dp", "resources": resources})
    )
    return folder


SOURCES = [
    (_csv, csv_table.read),
    (_lines, json_lines.read),
    (_parquet, parquet.read),
    (_darwin_core, darwin_core.read),
    (_many_media, darwin_core.read),
    (_cvat, cvat.read),
    (_camtrap, camtrap_dp_reading.read),
]
Made = Callable[[Path, int], Path]
Read = Callable[[Path], object]


@pytest.mark.parametrize(("made", "read"), SOURCES)
def test_too_many_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, made: Made, read: Read
) -> None:
    source = made(tmp_path, ROWS)
    read(source)
    monkeypatch.setattr(limits.RECORDS, "most", ROWS - 1)
    with pytest.raises(
        FormatError, match=r"too many rows: expected at most 11, found more\. Divide it"
    ):
        read(source)


def test_rows_are_counted_not_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cell may hold several lines."""
    path = tmp_path / "labels.csv"
    path.write_text('image,class,note\na.jpg,Gull,"' + "one more line\n" * 50 + '"\n')
    monkeypatch.setattr(limits.RECORDS, "most", 2)
    assert len(csv_table.read(path).labels) == 1


def test_a_truth_file_of_too_many_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "truth.csv"
    path.write_text("image,class\n" + "a.jpg,\n" * ROWS)
    graph = CategoryGraph()
    assert read_truth(path, graph)
    monkeypatch.setattr(limits.RECORDS, "most", ROWS - 1)
    with pytest.raises(FormatError, match="the truth file has too many rows"):
        read_truth(path, graph)


@pytest.mark.parametrize(("made", "read"), SOURCES[:2])
def test_too_many_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, made: Made, read: Read
) -> None:
    monkeypatch.setattr(limits.TABLE_BYTES, "most", 100)
    with pytest.raises(FormatError, match="too large to be read"):
        read(made(tmp_path, ROWS))


@pytest.mark.parametrize(("made", "read"), SOURCES[:3])
def test_too_much_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, made: Made, read: Read
) -> None:
    """Memory is bounded, also for a text that all rows of a Parquet file share."""
    monkeypatch.setattr(limits.TEXT, "most", 80)
    with pytest.raises(FormatError, match="too long to be held"):
        read(made(tmp_path, ROWS))


@pytest.mark.parametrize(("made", "read"), SOURCES[:2])
def test_a_line_without_an_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, made: Made, read: Read
) -> None:
    source = made(tmp_path, 1)
    with source.open("a") as file:
        file.write("x" * 2_000)
    monkeypatch.setattr(limits, "LONGEST_LINE", 1_000)
    with pytest.raises(
        FormatError, match=r"line \d of labels\.\w+ is too long: expected at most 1,000 characters"
    ):
        read(source)


@pytest.mark.slow
def test_a_wide_header(tmp_path: Path) -> None:
    """Columns that say nothing to us cost nothing for each row."""
    path = tmp_path / "labels.csv"
    path.write_text("image,class" + ",x" * 100_000 + "\n" + "a.jpg,Gull\n" * 1_000)
    assert len(csv_table.read(path).labels) == 1_000


def test_what_is_not_utf_8_in_lines_of_json(tmp_path: Path) -> None:
    """Windows-1252 is read, as in every table; what no encoding explains is refused."""
    path = tmp_path / "labels.jsonl"
    path.write_bytes(b'{"image": "b.jpg", "class": "M\xf6we"}\n')
    assert [label.names for label in json_lines.read(path).labels] == [("Möwe",)]
    path.write_bytes(
        b'{"image": "a.jpg", "class": "M\xc3\xb6we"}\n{"image": "b.jpg", "class": "M\xf6we"}\n'
    )
    with pytest.raises(
        FormatError, match=r"labels\.jsonl is not a text file in UTF-8: found byte 0xf6 in line 2"
    ):
        json_lines.read(path)


@pytest.mark.slow
@pytest.mark.parametrize("depth", [DEEP, *range(880, 1_000, 3)])
def test_deep_lines_of_json(tmp_path: Path, depth: int) -> None:
    """Also where the line can be parsed, and its value not be shown."""
    path = tmp_path / "labels.jsonl"
    deep = "[" * depth + "]" * depth
    path.write_text(
        f'{{"image": "a.jpg", "class": "Gull"}}\n{{"image": {deep}, "class": "Gull"}}\n'
    )
    message = ""
    try:
        json_lines.read(path)
    except FormatError as error:
        message = str(error)
    assert not message or ("line 2 of labels.jsonl" in message and "nested too deep" in message)
    assert depth < DEEP or (message and detect(path) == "jsonl")


def _times(path: Path, values: list[int], kind: pa.DataType) -> list[datetime | None]:
    times = pa.array(values, kind)
    table = pa.table(
        {"image": ["a.jpg"] * len(values), "class": ["Gull"] * len(values), "labelled_at": times}
    )
    pq.write_table(table, path)
    return [label.when for label in parquet.read(path).labels]


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (1_700_000_000_123_456_789, pa.timestamp("ns", "UTC")),
        (1_700_000_000_123_456, pa.timestamp("us", "Nowhere/Land")),
        (1_700_000_000_123_456, pa.timestamp("us")),
    ],
)
def test_times_of_parquet(tmp_path: Path, value: int, kind: pa.DataType) -> None:
    """Nanoseconds, and an unknown time zone: the stored instant counts."""
    assert _times(tmp_path / "labels.parquet", [value], kind) == [
        datetime(2023, 11, 14, 22, 13, 20, 123_456, UTC)
    ]


def test_dates_of_parquet(tmp_path: Path) -> None:
    days = [datetime(2023, 11, 14, tzinfo=UTC), None]
    assert _times(tmp_path / "labels.parquet", [19_675, 2**30], pa.date32()) == days


def test_times_that_no_calendar_has(tmp_path: Path) -> None:
    """The label stays, the time is left away, and that is reported."""
    path = tmp_path / "labels.parquet"
    year_300000 = 9_400_000_000_000_000
    assert _times(path, [year_300000, -year_300000], pa.timestamp("ms")) == [None, None]
    assert [problem.split(":")[0] for problem in parquet.read(path).problems] == ["row 1", "row 2"]


def test_a_time_that_utc_does_not_have(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_text(
        "image,class,labelled_at\na.jpg,Gull,9999-12-31T23:59:59-12:00\nb.jpg,Gull,2026-05-01\n"
    )
    found = csv_table.read(path)
    assert ([label.image for label in found.labels], len(found.problems)) == (["b.jpg"], 1)


def test_columns_of_parquet_that_are_not_needed(tmp_path: Path) -> None:
    """They may unpack to anything: none is read."""
    path = tmp_path / "labels.parquet"
    notes = pa.DictionaryArray.from_arrays(
        pa.array([0] * 1_000, pa.int32()), pa.array(["x" * 1_000_000])
    )
    pq.write_table(
        pa.table({"file_name": ["a.jpg"] * 1_000, "label": ["Gull"] * 1_000, "note": notes}), path
    )
    before = pa.total_allocated_bytes()
    assert len(parquet.read(path).labels) == 1_000
    assert pa.total_allocated_bytes() - before < 1_000_000


def test_a_long_cell_of_parquet(tmp_path: Path) -> None:
    path = tmp_path / "labels.parquet"
    pq.write_table(pa.table({"image": ["a.jpg"], "class": ["x" * (limits.LONGEST_CELL + 1)]}), path)
    with pytest.raises(FormatError, match=r"a cell of labels\.parquet is too long"):
        parquet.read(path)


def test_texts_of_parquet_that_are_stored_otherwise(tmp_path: Path) -> None:
    """Names as bytes, as older programs write them, and classes as numbers with gaps."""
    path = tmp_path / "labels.parquet"
    names = pa.array([b"a.jpg", b"m\xf6we.jpg", b"c.jpg"], pa.binary())
    pq.write_table(pa.table({"image": names, "class": pa.array([1.0, 3.0, None])}), path)
    found = [(label.image, label.names) for label in parquet.read(path).labels]
    assert found == [("a.jpg", ("1",)), ("m\udcf6we.jpg", ("3",))]


def test_columns_of_lists(tmp_path: Path) -> None:
    path = tmp_path / "labels.parquet"
    pq.write_table(
        pa.table({"image": ["a.jpg"], "class": ["Gull"], "path": [["Bird", "Gull"]]}), path
    )
    assert parquet.read(path).labels[0].names == ("Gull",)
    pq.write_table(pa.table({"image": ["a.jpg"], "class": [["Gull"]]}), path)
    with pytest.raises(FormatError, match="were not recognised"):
        parquet.read(path)


def test_an_archive_of_too_many_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its list of files is measured before it is read, whatever it says of their number."""
    path = tmp_path / "many.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for number in range(ROWS):
            archive.writestr(f"{number}.txt", "")
    with archives.opened_archive(path) as archive:
        assert len(archive.namelist()) == ROWS
    monkeypatch.setattr(limits.FILE_LIST_BYTES, "most", 400)
    with pytest.raises(FormatError, match="contains too many files"), archives.opened_archive(path):
        pass
    for asked in (detect, detect_format):
        with pytest.raises(FormatError, match="contains too many files"):
            asked(path)


def test_a_file_that_is_larger_than_its_archive_says(tmp_path: Path) -> None:
    """No more of it is unpacked, and the difference is seen."""
    path = tmp_path / "liar.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("t.csv", b"x" * 10_000_000)
    path.write_bytes(
        path.read_bytes().replace((10_000_000).to_bytes(4, "little"), (1_000).to_bytes(4, "little"))
    )
    with (
        archives.opened_archive(path) as archive,
        archives.member(archive, "t.csv") as file,
        pytest.raises(zipfile.BadZipFile, match="CRC"),
    ):
        file.read()


def test_a_large_file_of_an_archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = _darwin_core(tmp_path, ROWS)
    monkeypatch.setattr(limits.TABLE_BYTES, "most", 100)
    with pytest.raises(FormatError, match="too large to be read"):
        darwin_core.read(source)
    with opened_package(source, "meta.xml", replace(limits.DOCUMENT_BYTES, most=10)) as package:
        assert "meta.xml" in package.names
        with pytest.raises(FormatError, match="too large"):
            package.data("meta.xml")


@pytest.mark.slow
def test_one_image_of_very_many_tags(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "annotations.xml"
    path.write_text(
        '<annotations><image name="a.jpg">'
        + '<tag label="Gull"/>' * 20_000
        + "</image></annotations>"
    )
    assert len(cvat.read(path).labels) == 1
    monkeypatch.setattr(limits.XML_PART_BYTES, "most", 100_000)
    with pytest.raises(FormatError, match=r"a part of annotations\.xml is too large"):
        cvat.read(path)


def test_very_many_other_elements(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are forgotten, and count for nothing."""
    path = tmp_path / "annotations.xml"
    path.write_text(
        "<annotations>" + "<other><x/></other>" * 20_000 + '<image name="a.jpg"/></annotations>'
    )
    monkeypatch.setattr(limits.XML_PART_BYTES, "most", 100_000)
    assert cvat.read(path).unlabelled == 1


def test_deep_xml(tmp_path: Path) -> None:
    path = tmp_path / "annotations.xml"
    path.write_text("<annotations>" + "<x>" * DEEP + "</x>" * DEEP + "</annotations>")
    with pytest.raises(FormatError, match=r"annotations\.xml is nested too deep"):
        cvat.read(path)


def test_a_large_json_document(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "labels.json"
    path.write_text('{"images": [], "annotations": [], "categories": [' + "[]," * 1_000 + "[]]}")
    monkeypatch.setattr(limits.JSON_VALUES, "most", 100)
    with pytest.raises(
        FormatError, match=r"labels\.json has too many values: expected at most 100, found 2,007"
    ):
        coco.read(path)
    monkeypatch.setattr(limits, "LARGEST_JSON_BYTES", 1_000)
    with pytest.raises(StorageError, match="at most 1"):
        coco.read(path)


def test_a_deep_json_document(tmp_path: Path) -> None:
    path = tmp_path / "labels.json"
    path.write_text(
        '{"images": [], "annotations": [], "categories": ' + "[" * DEEP + "]" * DEEP + "}"
    )
    with pytest.raises(FormatError, match=r"labels\.json is nested too deep"):
        coco.read(path)


@pytest.mark.slow
def test_a_long_chain_of_categories(tmp_path: Path) -> None:
    """A chain of categories is followed once for each, up to the deepest allowed level."""
    path = tmp_path / "labels.json"
    names = [{"id": n, "name": f"c{n}", "supercategory": f"c{n - 1}"} for n in range(2_000)]
    annotations = [{"image_id": 1, "category_id": n % 2_000} for n in range(20_000)]
    images = [{"id": 1, "file_name": "a.jpg"}]
    path.write_text(json.dumps({"images": images, "categories": names, "annotations": annotations}))
    found = {label.names[-1]: len(label.names) for label in coco.read(path).labels}
    assert (found["c2"], found["c1999"]) == (3, 1)


def _sidecar(folder: Path, body: str) -> None:
    (folder / "photo.jpg.xmp").write_text(
        '<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF '
        'xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">'
        '<rdf:Description xmlns:dc="http://purl.org/dc/elements/1.1/" '
        'xmlns:lr="http://ns.adobe.com/lightroom/1.0/">'
        f"{body}</rdf:Description></rdf:RDF></x:xmpmeta>"
    )


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            "<dc:subject><rdf:Bag>" + "<rdf:li>a</rdf:li>" * 30 + "</rdf:Bag></dc:subject>",
            "more than 20 keywords",
        ),
        (
            "<lr:hierarchicalSubject>" + "a|" * 20_000 + "</lr:hierarchicalSubject>",
            "more than 501 levels",
        ),
        ("<a/>" * 300, "too many elements"),
    ],
)
def test_keywords(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str, message: str) -> None:
    """What is beyond keywords that people give is listed, and the other photos are read."""
    (tmp_path / "photo.jpg").write_bytes(b"")
    _sidecar(tmp_path, body)
    monkeypatch.setattr(limits, "MOST_KEYWORDS", 20)
    monkeypatch.setattr(limits.XML_TAGS, "most", 200)
    found = keywords.read(tmp_path, lambda _: EmbeddedKeywords())
    assert [message in problem for problem in found.problems] == [True]
    assert not found.labels


def test_what_a_csv_cell_holds_is_the_limit_of_cells() -> None:
    assert csv.field_size_limit() == limits.LONGEST_CELL
