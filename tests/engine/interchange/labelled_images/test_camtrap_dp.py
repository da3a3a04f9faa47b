"""Camtrap data packages hold what the standard asks for, and say where a collection does not know it.

`make readers` validates whole packages by frictionless against the standard's own schemas; here stand its rules.
"""

import csv
import json
import re
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from engine.errors import FormatError
from engine.interchange.labelled_images import camtrap_dp
from engine.interchange.labelled_images.class_folders import IMAGES_TABLE, FolderOptions
from engine.interchange.labelled_images.records import LabelledImages
from tests.support.labelled_images import Labelled
from tests.support.photos import save_photo

FILE_PATH = re.compile(r"^(?=^[^./~])(^((?!\.{2}).)*$).*$")
"""What the standard's schema asks of `filePath`."""


@pytest.fixture
def package(music: Labelled, tmp_path: Path) -> Path:
    """Of the small collection: two photos of a day say where they were taken, one in which time zone."""
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
    """A deployment lies in the middle of its photos; without any it may be anywhere, and says so."""
    first, second = rows(package, "deployments")
    assert (first["deploymentID"], first["latitude"], first["longitude"]) == ("photos/day 0", "48.002000", "7.500000")
    assert 100 < int(first["coordinateUncertainty"]) < 120
    assert (first["deploymentStart"], first["timestampIssues"]) == ("2024-05-01T07:30:00+02:00", "true")
    assert (second["latitude"], second["coordinateUncertainty"]) == ("0.000000", "20037508")
    assert "not known" in second["deploymentComments"]
    media = {row["fileName"]: row for row in rows(package, "media")}
    assert (media["piano.png"]["timestamp"], media["piano.png"]["mediaComments"]) == ("2024-05-01T07:30:00+02:00", "")
    assert media["coarse.png"]["timestamp"] == "2024-05-01T07:30:00+00:00"
    assert "no time zone" in media["coarse.png"]["mediaComments"]
    assert "file" in media["flute.png"]["mediaComments"]
    area = json.loads((package / "datapackage.json").read_text())["spatial"]
    assert area["bbox"] == pytest.approx([7.5, 48.001, 7.5, 48.003])


def test_person_and_machine_are_distinguished(package: Path) -> None:
    """One observation for each image, of the type that the standard has for it."""
    found = {Path(row["deploymentID"], row["mediaID"]).name: row for row in rows(package, "observations")}
    by_image = [
        (row["observationType"], row["scientificName"], row["classificationMethod"], row["classificationProbability"])
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
    types = [row["observationType"] for row in rows(written(images, tmp_path / "package"), "observations")]
    assert (types[0], types[-1]) == ("vehicle", "blank")


def test_paths_of_images_fit_the_standard(music: Labelled, tmp_path: Path) -> None:
    images = music.gathered()
    odd = ("/data/a b.jpg", "../up/x.jpg", "a..b.jpg", ".hidden/x.jpg", "~me/x.jpg", "line\nend.jpg")
    moved = [replace(image, path=path, file=tmp_path / path) for image, path in zip(images.images, odd, strict=False)]
    package = written(replace(images, images=[*moved, *images.images[len(odd) :]]), tmp_path / "package")
    found = [row["filePath"] for row in rows(package, "media")]
    assert all(path.startswith("file:///") for path in found[: len(odd)])
    assert found[len(odd)] == "photos/day 0/far.png"
    assert all(FILE_PATH.match(each) for each in found)


def test_a_package_of_another_program(package: Path) -> None:
    """Without our table the observations count; those of events, and what nobody classified, are no labels."""
    (package / IMAGES_TABLE).unlink()
    assert camtrap_dp.fits(package)
    assert camtrap_dp.fits(package / "datapackage.json")
    found = camtrap_dp.read(package)
    by_person = [(label.image, label.names, label.who) for label in found.labels if not label.is_machine]
    assert by_person == [
        ("photos/day 0/piano.png", ("Piano",), "ada"),
        ("photos/day 1/organ.png", ("Organ",), "grace"),
        ('photos/day 1/=odd, "name" ü.png', ("Trio: A/B?",), 'Zoë, "the" boss'),
    ]
    assert all(label.when is not None and label.when.tzinfo is UTC for label in found.labels[:1])
    assert len(found.labels) == 5
    assert found.unlabelled == 3
    table = package / "observations.csv"
    table.write_text(table.read_text(encoding="utf-8").replace("photos/day 0,1,", "photos/day 0,,"), encoding="utf-8")
    assert "1 observations of events" in camtrap_dp.read(package).problems[0]


def test_a_class_that_was_corrected_elsewhere_counts(music: Labelled, tmp_path: Path) -> None:
    """Our own table is believed where it speaks of the same class, wherever the image lies."""
    images = music.gathered()
    odd = [
        replace(image, path=f"../up/{image.image_id}.png", file=tmp_path / f"{image.image_id}.png")
        for image in images.images
    ]
    package = written(replace(images, images=odd), tmp_path / "package")
    table = package / "observations.csv"
    table.write_text(table.read_text(encoding="utf-8").replace(",Piano,", ",Harpsichord,"), encoding="utf-8")
    first, second, *_ = camtrap_dp.read(package).labels
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
            camtrap_dp.read(package)
