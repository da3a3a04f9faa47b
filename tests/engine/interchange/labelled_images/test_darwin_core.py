"""Darwin Core archives are what the standard says, and what GBIF's own reader reads."""

import csv
import io
import zipfile
from datetime import UTC, datetime
from pathlib import Path

import pytest
from dwca.read import DwCAReader
from lxml import etree

from engine.errors import FormatError
from engine.graph.class_attributes import ClassAttributes
from engine.interchange.labelled_images import darwin_core
from engine.interchange.labelled_images.darwin_core_archive import (
    DARWIN_CORE,
    EML,
    TABLES,
    meta_xml,
)
from tests.support.labelled_images import ORGAN, Labelled
from tests.support.photos import save_photo

META = "{http://rs.tdwg.org/dwc/text/}"


@pytest.fixture
def archive(music: Labelled, tmp_path: Path) -> Path:
    """A small collection: the first image has time and place, its class an id of a checklist."""
    save_photo(
        music.project.images.resolve(music.project.images.record(music.images["piano.png"])),
        taken_at=datetime(2024, 5, 1, 7, 30),  # noqa: DTZ001 (as cameras say it)
        latitude=-33.8569,
        longitude=151.2152,
    )
    return exported(music, tmp_path / "music.zip")


def exported(music: Labelled, out: Path) -> Path:
    images = music.gathered()
    images.graph.set_attributes(music.ids[ORGAN], ClassAttributes("gbif:2481139", rank="species"))
    with out.open("wb") as file:
        assert darwin_core.write(images, file).left_out == {"no class": 3}
    return out


def test_another_program_reads_it(archive: Path) -> None:
    """GBIF's reader for Python finds occurrences with their images and identifications."""
    with DwCAReader(archive) as reader:
        assert reader.metadata is not None
        assert reader.metadata.findtext("dataset/title") == "music"
        rows = {row.data[DARWIN_CORE + "scientificName"]: row for row in reader.rows}
        assert list(rows) == ["Piano", ORGAN, "Flute", "Wind", "Trio: A/B?"]
        piano = {term.rsplit("/", 1)[-1]: value for term, value in rows["Piano"].data.items()}
        extensions = {
            name: [[*each.data.values()] for each in row.extensions] for name, row in rows.items()
        }
    assert (piano["higherClassification"], piano["identifiedBy"]) == ("Keyboard", "ada")
    assert piano["eventDate"] == "2024-05-01T07:30:00"
    assert (piano["decimalLatitude"], piano["decimalLongitude"]) == ("-33.8569000", "151.2152000")
    assert piano["identificationVerificationStatus"] == "verified by a person"
    assert rows[ORGAN].data[DARWIN_CORE + "taxonID"] == "gbif:2481139"
    assert rows[ORGAN].data[DARWIN_CORE + "taxonRank"] == "species"
    medium, by_person, by_model = extensions["Piano"]
    assert medium[:5] == [
        "StillImage",
        "image/jpeg",
        "photos/day%200/piano.png",
        "piano.png",
        "2024-05-01T07:30:00",
    ]
    assert by_person[:5] == ["Piano", "Keyboard", "", "", "ada"]
    assert by_model[4].startswith("leafnet (ppn+), Protoleaf ")
    assert by_model[-2:] == ["machine answer, verified by nobody", "probability 0.970000"]
    assert [row[0] for row in extensions["Wind"][1:]] == ["Wind", "Flute"]


def test_the_description_fits_the_tables(archive: Path) -> None:
    """Every column of each table is described, under the name of its term."""
    with zipfile.ZipFile(archive) as files:
        parts = list(etree.fromstring(files.read("meta.xml")))
        for part in parts:
            location = part.findtext(f"{META}files/{META}location")
            header = next(csv.reader(io.StringIO(files.read(location).decode())))
            described = {
                int(field.get("index")): field.get("term") for field in part.findall(f"{META}field")
            }
            names = [described.get(at, "coreid").rsplit("/", 1)[-1] for at in range(len(header))]
            assert header == names
    assert [etree.QName(part).localname for part in parts] == ["core", "extension", "extension"]


def test_the_same_collection_gives_the_same_archive(
    music: Labelled, archive: Path, tmp_path: Path
) -> None:
    """Except for the time of the model's answers."""
    again = exported(music, tmp_path / "again.zip")
    with zipfile.ZipFile(archive) as first, zipfile.ZipFile(again) as second:
        assert first.namelist() == second.namelist()
        for name in ("meta.xml", "eml.xml", "multimedia.csv"):
            assert first.read(name) == second.read(name)


def test_an_archive_of_another_program(tmp_path: Path) -> None:
    """Tabs, no quotes, other orders of columns, an id that is not first, invalid dates."""
    source = tmp_path / "theirs.zip"
    meta = (
        '<archive xmlns="http://rs.tdwg.org/dwc/text/"><core fieldsTerminatedBy="\\t" '
        'fieldsEnclosedBy=""'
        f' ignoreHeaderLines="0" rowType="{DARWIN_CORE}Occurrence"><files><location>'
        f"o.txt</location></files>"
        f'<id index="1"/><field index="0" term="{DARWIN_CORE}scientificName"/>'
        f'<field index="2" term="{DARWIN_CORE}associatedMedia"/><field index="3" '
        f'term="{DARWIN_CORE}identifiedBy"/>'
        f'<field index="4" term="{DARWIN_CORE}dateIdentified"/><field '
        f'term="{DARWIN_CORE}country" default="NZ"/>'
        "</core></archive>"
    )
    rows = (
        'Larus\t1\tday 1/gull.jpg\tBo "B"\t2024-05-01\n\t2\tday 1/none.jpg\t\t\nPuffinus\t'
        "3\ta/b.jpg\t\t1990/1992\n"
    )
    write_zip(source, {"meta.xml": meta, "o.txt": rows})
    assert darwin_core.fits(source)
    found = darwin_core.read(source)
    assert [(each.image, each.names, each.who, each.when) for each in found.labels] == [
        ("day 1/gull.jpg", ("Larus",), 'Bo "B"', datetime(2024, 5, 1, tzinfo=UTC)),
        ("a/b.jpg", ("Puffinus",), "", None),
    ]
    assert found.unlabelled == 1


@pytest.mark.parametrize(
    ("row_type", "term"),
    [
        ("http://rs.gbif.org/terms/1.0/Multimedia", "http://purl.org/dc/terms/identifier"),
        ("http://rs.gbif.org/terms/1.0/Multimedia", "http://purl.org/dc/terms/references"),
        ("http://rs.tdwg.org/ac/terms/Multimedia", "http://rs.tdwg.org/ac/terms/accessURI"),
    ],
)
def test_images_of_another_program_are_found(tmp_path: Path, row_type: str, term: str) -> None:
    """Images next to the archive, by file URL, by end of a web URL; several of one bird."""
    meta = (
        f'<archive xmlns="http://rs.tdwg.org/dwc/text/"><core '
        f'rowType="{DARWIN_CORE}Occurrence" ignoreHeaderLines="0">'
        f'<files><location>o.csv</location></files><id index="0"/><field index="1" '
        f'term="{DARWIN_CORE}scientificName"/>'
        f'</core><extension rowType="{row_type}" ignoreHeaderLines="0"><files><location>'
        f"m.csv</location></files>"
        f'<coreid index="0"/><field index="1" term="{term}"/></extension></archive>'
    )
    local = (tmp_path / "c d.jpg").as_uri()
    media = f"1,day%201/a.jpg\n1,https://example.org/day%202/b.jpg\n2,{local}\n"
    source = tmp_path / "theirs.zip"
    write_zip(source, {"meta.xml": meta, "o.csv": "1,Larus\n2,Puffinus\n", "m.csv": media})
    found = darwin_core.read(source).labels
    assert [(each.image, each.names, each.file) for each in found] == [
        ("day 1/a.jpg", ("Larus",), tmp_path / "day 1" / "a.jpg"),
        ("day 2/b.jpg", ("Larus",), None),
        (str(tmp_path / "c d.jpg"), ("Puffinus",), tmp_path / "c d.jpg"),
    ]


def test_a_class_that_was_corrected_elsewhere_counts(archive: Path, tmp_path: Path) -> None:
    """Our own record of an occurrence is not believed where its name was changed since."""
    with zipfile.ZipFile(archive) as files:
        content = {name: files.read(name).decode() for name in files.namelist()}
    rows = list(csv.reader(io.StringIO(content["occurrence.csv"])))
    place = rows[0].index("scientificName")
    rows[1][place] = "Harpsichord"
    text = io.StringIO()
    csv.writer(text).writerows(rows)
    changed = tmp_path / "changed.zip"
    write_zip(changed, content | {"occurrence.csv": text.getvalue()})
    first = darwin_core.read(changed).labels[0]
    assert (first.image, first.names, first.who) == (
        "photos/day 0/piano.png",
        ("Keyboard", "Harpsichord"),
        "ada",
    )
    assert first.content_hash


@pytest.mark.parametrize(
    "content",
    [
        {},
        {"meta.xml": "<archive/>"},
        {"meta.xml": "no xml"},
        {"meta.xml": meta_xml(TABLES, metadata=EML).decode()},
        {"meta.xml": meta_xml(TABLES, metadata=EML).decode(), "occurrence.csv": '"\x00'},
        {
            "meta.xml": (
                '<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><archive>&b;</archive>'
            )
        },
    ],
)
def test_other_archives_are_refused(tmp_path: Path, content: dict[str, str]) -> None:
    """In one line that names the file."""
    source = tmp_path / "odd.zip"
    write_zip(source, content)
    with pytest.raises(FormatError):
        darwin_core.read(source)


def write_zip(path: Path, content: dict[str, str]) -> None:
    with zipfile.ZipFile(path, "w") as files:
        for name, text in content.items():
            files.writestr(name, text)
