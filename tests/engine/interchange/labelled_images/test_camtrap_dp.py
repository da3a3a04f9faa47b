"""Camtrap data packages fulfil the standard, and state what a collection does not know.

`make readers` validates packages by frictionless with the standard's schemas; these are its rules.
"""

import csv
import json
import re
import zipfile
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from engine.errors import FormatError
from engine.interchange.labelled_images import camtrap_dp, camtrap_dp_reading
from engine.interchange.labelled_images.class_folders import IMAGES_TABLE, FolderOptions
from engine.interchange.labelled_images.formats import detect
from engine.interchange.labelled_images.records import LabelledImages
from tests.support.labelled_images import Labelled
from tests.support.photos import save_photo

FILE_PATH = re.compile(r"^(?=^[^./~])(^((?!\.{2}).)*$).*$")
"""What the standard's schema asks of `filePath`."""


@pytest.fixture
def package(music: Labelled, tmp_path: Path) -> Path:
    """A small collection with two photos of a day with coordinates, one with a time zone."""
    for name, zone, latitude in (("piano.png", "+02:00", 48.001), ("coarse.png", "", 48.003)):
        save_photo(
            music.project.images.resolve(music.project.images.record(music.images[name])),
            taken_at=datetime(2024, 5, 1, 7, 30),  # noqa: DTZ001 (as cameras say it)
            latitude=latitude,
            longitude=7.5,
            zone=zone,
        )
    return written(music.gathered(), tmp_path / "package")


def written(images: LabelledImages, folder: Path) -> Path:
    folder.mkdir()
    camtrap_dp.write(images, folder, FolderOptions())
    return folder


def rows(package: Path, name: str) -> list[dict[str, str]]:
    with (package / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_photos_tell_place_and_time(package: Path) -> None:
    """A deployment is at the mean of its photos; without coordinates it may be anywhere."""
    first, second = rows(package, "deployments")
    assert (first["deploymentID"], first["latitude"], first["longitude"]) == (
        "photos/day 0",
        "48.002000",
        "7.500000",
    )
    assert 100 < int(first["coordinateUncertainty"]) < 120
    assert (first["deploymentStart"], first["timestampIssues"]) == (
        "2024-05-01T07:30:00+02:00",
        "true",
    )
    assert (second["latitude"], second["coordinateUncertainty"]) == ("0.000000", "20037508")
    assert second["deploymentComments"].startswith("Location missing")
    media = {row["fileName"]: row for row in rows(package, "media")}
    assert (media["piano.png"]["timestamp"], media["piano.png"]["mediaComments"]) == (
        "2024-05-01T07:30:00+02:00",
        "",
    )
    assert media["coarse.png"]["timestamp"] == "2024-05-01T07:30:00+00:00"
    assert "no time zone" in media["coarse.png"]["mediaComments"]
    assert "file" in media["flute.png"]["mediaComments"]
    area = json.loads((package / "datapackage.json").read_text())["spatial"]
    assert area["bbox"] == pytest.approx([7.5, 48.001, 7.5, 48.003])


def test_person_and_machine_are_distinguished(package: Path) -> None:
    """One observation for each image, of the type that the standard has for it."""
    found = {
        Path(row["deploymentID"], row["mediaID"]).name: row for row in rows(package, "observations")
    }
    by_image = [
        (
            row["observationType"],
            row["scientificName"],
            row["classificationMethod"],
            row["classificationProbability"],
        )
        for row in found.values()
    ]
    assert by_image == [
        ("animal", "Piano", "human", ""),
        ("animal", "Organ", "human", ""),
        ("unknown", "", "human", ""),
        ("animal", "Flute", "machine", "0.910000"),
        ("animal", "Wind", "machine", "0.900000"),
        ("unclassified", "", "", ""),
        ("unknown", "", "machine", ""),
        ("animal", "Trio: A/B?", "human", ""),
    ]
    assert found["1"]["classifiedBy"] == "ada"
    assert found["4"]["classifiedBy"].startswith("leafnet (ppn+), ")


def test_vehicles_and_empty_images_have_types_of_their_own(music: Labelled, tmp_path: Path) -> None:
    images = music.gathered()
    images.graph.rename(music.ids["Keyboard"], "Vehicle")
    images.graph.rename(music.ids["Trio: A/B?"], "Blank")
    types = [
        row["observationType"]
        for row in rows(written(images, tmp_path / "package"), "observations")
    ]
    assert (types[0], types[-1]) == ("vehicle", "blank")


def test_paths_of_images_fit_the_standard(music: Labelled, tmp_path: Path) -> None:
    images = music.gathered()
    odd = (
        "/data/a b.jpg",
        "../up/x.jpg",
        "a..b.jpg",
        ".hidden/x.jpg",
        "~me/x.jpg",
        "line\nend.jpg",
    )
    moved = [
        replace(image, path=path, file=tmp_path / path)
        for image, path in zip(images.images, odd, strict=False)
    ]
    package = written(
        replace(images, images=[*moved, *images.images[len(odd) :]]), tmp_path / "package"
    )
    found = [row["filePath"] for row in rows(package, "media")]
    assert all(path.startswith("file:///") for path in found[: len(odd)])
    assert found[len(odd)] == "photos/day 0/far.png"
    assert all(FILE_PATH.match(each) for each in found)


def test_a_package_of_another_program(package: Path) -> None:
    """Without our table observations count; those of events and unclassified ones do not."""
    (package / IMAGES_TABLE).unlink()
    assert camtrap_dp_reading.fits(package)
    assert camtrap_dp_reading.fits(package / "datapackage.json")
    found = camtrap_dp_reading.read(package)
    by_person = [
        (label.image, label.names, label.who) for label in found.labels if not label.is_machine
    ]
    assert by_person == [
        ("photos/day 0/piano.png", ("Piano",), "ada"),
        ("photos/day 1/organ.png", ("Organ",), "grace"),
        ('photos/day 1/=odd, "name" ü.png', ("Trio: A/B?",), 'Zoë, "the" boss'),
    ]
    assert all(label.when is not None and label.when.tzinfo is UTC for label in found.labels[:1])
    assert len(found.labels) == 5
    assert found.unlabelled == 3
    table = package / "observations.csv"
    table.write_text(
        table.read_text(encoding="utf-8").replace("photos/day 0,1,", "photos/day 0,,"),
        encoding="utf-8",
    )
    assert len(camtrap_dp_reading.read(package).labels) == 5, "by the time of the event"
    text = table.read_text(encoding="utf-8")
    table.write_text(text.replace("photos/day 0,,", "elsewhere,,"), encoding="utf-8")
    assert "1 observations of events" in camtrap_dp_reading.read(package).problems[0]


def test_a_class_that_was_corrected_elsewhere_counts(music: Labelled, tmp_path: Path) -> None:
    """Our own table is believed where it speaks of the same class, wherever the image lies."""
    images = music.gathered()
    odd = [
        replace(image, path=f"../up/{image.image_id}.png", file=tmp_path / f"{image.image_id}.png")
        for image in images.images
    ]
    package = written(replace(images, images=odd), tmp_path / "package")
    table = package / "observations.csv"
    table.write_text(
        table.read_text(encoding="utf-8").replace(",Piano,", ",Harpsichord,"), encoding="utf-8"
    )
    first, second, *_ = camtrap_dp_reading.read(package).labels
    assert (first.names, first.who, first.content_hash) == (("Harpsichord",), "ada", "")
    assert (second.names, second.image) == (("Keyboard", "Organ"), "../up/2.png")
    assert second.content_hash


def test_damaged_packages_are_refused(package: Path) -> None:
    """Also those whose tables lie elsewhere."""
    (package / IMAGES_TABLE).unlink()
    elsewhere = '{"resources": [{"name": "media", "path": "../media.csv"}]}'
    for text in ("", "[]", "{", '{"profile": "camtrap-dp"}', elsewhere, '{"resources": 5}'):
        (package / "datapackage.json").write_text(text)
        with pytest.raises(FormatError):
            camtrap_dp_reading.read(package)


def _package_of(folder: Path, observations: str, media: str = "") -> Path:
    """A package of another program with three photos of an hour."""
    folder.mkdir(parents=True)
    rows_of_media = media or "mediaID,deploymentID,timestamp,filePath\n" + "".join(
        f"m{hour},d,2024-05-01T0{hour}:00:00+02:00,{hour}.jpg\n" for hour in (6, 7, 8)
    )
    for name, text in {"media": rows_of_media, "observations": observations}.items():
        (folder / f"{name}.csv").write_text(text, encoding="utf-8")
    resources = [{"name": name, "path": f"{name}.csv"} for name in ("media", "observations")]
    (folder / "datapackage.json").write_text(
        json.dumps({"profile": "camtrap-dp", "resources": resources})
    )
    return folder


EVENTS = (
    "observationID,deploymentID,mediaID,eventID,eventStart,eventEnd,observationType,"
    "scientificName\n"
)


@pytest.mark.parametrize(
    ("rows_of_events", "expected"),
    [
        (
            "o,d,,e,2024-05-01T04:00:00Z,2024-05-01T05:00:00Z,animal,Vulpes vulpes\n",
            ["6.jpg", "7.jpg"],
        ),
        ("o,d,,e,2024-05-01T08:00:00+02:00,,animal,Vulpes vulpes\n", ["8.jpg"]),
        ("o,elsewhere,,e,2024-05-01T04:00:00Z,2024-05-01T05:00:00Z,animal,Vulpes vulpes\n", []),
        (
            (
                "o,d,m6,e,,,animal,Lynx lynx\np,d,m7,e,,,unclassified,\n"
                "q,d,,e,,,animal,Vulpes vulpes\n"
            ),
            ["6.jpg", "7.jpg"],
        ),
        (
            (
                "o,d,m6,e,,,animal,Lynx lynx\np,d,m8,f,,,animal,Lynx lynx\n"
                "q,d,,e,2024-05-01T04:00:00Z,2024-05-01T06:00:00Z,animal,Vulpes vulpes\n"
            ),
            ["6.jpg", "8.jpg", "7.jpg"],
        ),
    ],
)
def test_observations_of_events_count_for_their_media(
    tmp_path: Path, rows_of_events: str, expected: list[str]
) -> None:
    """By the time or the id of the event; media keep observations of their own."""
    found = camtrap_dp_reading.read(_package_of(tmp_path / "p", EVENTS + rows_of_events))
    assert [label.image for label in found.labels] == expected
    assert len(found.problems) == (not expected)
    foxes = [label.image for label in found.labels if label.names == ("Vulpes vulpes",)]
    assert foxes == expected[rows_of_events.count("Lynx") :]


def test_a_blank_of_another_program_is_none_of_the_classes(tmp_path: Path) -> None:
    package = _package_of(tmp_path / "p", EVENTS + "o,d,m6,,,,blank,\n")
    (label,) = camtrap_dp_reading.read(package).labels
    assert label.may_be_none
    assert detect(package / "observations.csv") == "camtrap-dp"
    assert camtrap_dp_reading.read(package / "observations.csv").labels == (label,)


@pytest.mark.parametrize("prefix", ["", "export 2024/"])
def test_a_package_in_a_zip_file_or_a_folder_around_it(tmp_path: Path, prefix: str) -> None:
    observation = "o,d,m6,,,,animal,Vulpes vulpes\n"
    package = _package_of(tmp_path / "around" / "inner", EVENTS + observation)
    with zipfile.ZipFile(tmp_path / "package.zip", "w") as archive:
        for file in package.iterdir():
            archive.write(file, prefix + file.name)
    for source in (tmp_path / "package.zip", tmp_path / "around"):
        assert detect(source) == "camtrap-dp"
        (label,) = camtrap_dp_reading.read(source).labels
        assert (label.image, label.names) == ("6.jpg", ("Vulpes vulpes",))


@pytest.mark.parametrize(("encoding", "name"), [("cp1252", "Bär"), ("shift-jis", "カモメカモメ")])
def test_a_table_in_the_encoding_that_the_package_names(
    tmp_path: Path, encoding: str, name: str
) -> None:
    package = _package_of(tmp_path / "p", "")
    (package / "observations.csv").write_bytes(
        (EVENTS + f"o,d,m6,,,,animal,{name}\n").encode(encoding)
    )
    description = package / "datapackage.json"
    text = description.read_text().replace(
        '"path": "observations.csv"', f'"encoding": "{encoding}", "path": "observations.csv"'
    )
    description.write_text(text)
    (label,) = camtrap_dp_reading.read(package).labels
    assert label.names == (name,)


def test_what_is_no_taxon_has_no_scientific_name_and_comes_back(
    music: Labelled, tmp_path: Path
) -> None:
    """Blank, vehicle, unknown and people; their classes are tags, which are read back."""
    images = music.gathered()
    for old, new in (("Keyboard", "Vehicle"), ("Trio: A/B?", "Leer"), ("Flute", "Unknown")):
        images.graph.rename(music.ids[old], new)
    images.graph.set_attributes(
        music.ids["Trio: A/B?"],
        replace(images.graph.attributes(music.ids["Trio: A/B?"]), synonyms=("Empty",)),
    )
    package = written(images, tmp_path / "package")
    found = [
        (row["observationType"], row["scientificName"], row["observationTags"])
        for row in rows(package, "observations")
    ]
    assert found[0] == ("vehicle", "", "class:Piano")
    assert found[-1] == ("blank", "", "class:Leer")
    assert found[3] == ("unknown", "", "class:Unknown")
    taxa = json.loads((package / "datapackage.json").read_text())["taxonomic"]
    assert [taxon["scientificName"] for taxon in taxa] == ["Wind"]
    (package / IMAGES_TABLE).unlink()
    names = [
        label.names for label in camtrap_dp_reading.read(package).labels if not label.is_machine
    ]
    assert names == [("Piano",), ("Organ",), ("Leer",)]


def test_effort_is_by_the_times_of_cameras_alone(package: Path) -> None:
    """Times of files stand for photos without one, and lengthen no deployment."""
    first, second = rows(package, "deployments")
    assert first["deploymentEnd"] == "2024-05-01T07:30:00+00:00"
    assert second["timestampIssues"] == "true"
    assert json.loads((package / "datapackage.json").read_text())["temporal"]["end"] == "2024-05-01"
