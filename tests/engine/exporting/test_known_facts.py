"""Exports have date, camera, serial number and place of photos, also of missing files."""

import csv
import io
import json
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest

from engine.exporting.export import ExportChoice, Which, export_images
from engine.images.reduced_photo import marked_as_reduced
from engine.interchange.labelled_images.formats import FORMATS
from engine.project.clock_corrections import ClockCorrection
from engine.project.records import ImageDetails
from tests.support.labelled_images import Labelled

CANON = "Canon EOS 5D"


@pytest.fixture
def gone(music: Labelled) -> Labelled:
    """A project with metadata of missing photos."""
    taken_at = datetime(2024, 5, 1, 7, 30)  # noqa: DTZ001 (cameras have no time zone)
    fields = {
        "serial": "0042",
        "lens": "EF 50",
        "iso": "400",
        "creator": "Ada",
        "copyright": "CC BY",
        "description": "A",
    }
    music.project.details.store(
        ImageDetails(image_id, 1, 4000, 3000, taken_at, CANON, 48.5, 7.25, fields)
        for image_id in music.images.values()
    )
    for record in music.project.images.records():
        music.project.images.resolve(record).unlink()
    return music


def exported(labelled: Labelled, name: str, out: Path) -> Path:
    export_images(labelled.project, labelled.answers, ExportChoice(name, out, Which.ALL))
    return out


def rows_in(data: str) -> Iterator[dict[str, str]]:
    return iter(csv.DictReader(io.StringIO(data)))


def test_a_table_has_date_camera_serial_and_place(gone: Labelled, tmp_path: Path) -> None:
    for row in rows_in(exported(gone, "csv", tmp_path / "out.csv").read_text(encoding="utf-8")):
        assert (row["taken_at"], row["camera"], row["serial"]) == (
            "2024-05-01T07:30:00",
            CANON,
            "0042",
        )
        assert (float(row["latitude"]), float(row["longitude"])) == (48.5, 7.25)


def test_times_are_those_of_corrected_clocks(gone: Labelled, tmp_path: Path) -> None:
    gone.project.clocks.set(ClockCorrection(camera=CANON, seconds=3600))
    row = next(rows_in(exported(gone, "csv", tmp_path / "out.csv").read_text(encoding="utf-8")))
    assert row["taken_at"] == "2024-05-01T08:30:00"


def test_darwin_core_has_date_camera_serial_place_and_rights(
    gone: Labelled, tmp_path: Path
) -> None:
    with zipfile.ZipFile(exported(gone, "darwin-core", tmp_path / "out.zip")) as archive:
        occurrence = next(rows_in(archive.read("occurrence.csv").decode()))
        medium = next(rows_in(archive.read("multimedia.csv").decode()))
    assert occurrence["eventDate"] == "2024-05-01T07:30:00"
    assert (occurrence["decimalLatitude"], occurrence["decimalLongitude"]) == (
        "48.5000000",
        "7.2500000",
    )
    own = json.loads(occurrence["dynamicProperties"])
    assert (own["camera"], own["serial"]) == (CANON, "0042")
    assert (medium["description"], medium["creator"], medium["rightsHolder"]) == (
        "A",
        "Ada",
        "CC BY",
    )


def test_camtrap_dp_has_date_camera_serial_and_place(gone: Labelled, tmp_path: Path) -> None:
    """Of a deployment, and of each photo as `exifData`."""
    folder = exported(gone, "camtrap-dp", tmp_path / "package")
    deployment = next(rows_in((folder / "deployments.csv").read_text(encoding="utf-8")))
    assert (deployment["cameraModel"], deployment["cameraID"]) == (CANON, "0042")
    assert (deployment["latitude"], deployment["longitude"]) == ("48.500000", "7.250000")
    assert (deployment["deploymentStart"], deployment["deploymentComments"]) == (
        "2024-05-01T07:30:00+00:00",
        "",
    )
    medium = next(rows_in((folder / "media.csv").read_text(encoding="utf-8")))
    assert medium["timestamp"] == "2024-05-01T07:30:00+00:00"
    assert json.loads(medium["exifData"])["EXIF"] == {
        "Model": CANON,
        "SerialNumber": "0042",
        "LensModel": "EF 50",
        "ISO": "400",
        "Artist": "Ada",
        "Copyright": "CC BY",
        "ImageDescription": "A",
    }


def test_camtrap_dp_lists_several_cameras_of_one_folder(gone: Labelled, tmp_path: Path) -> None:
    details = gone.project.details.as_read(gone.images["coarse.png"])
    assert details is not None
    gone.project.details.store(
        [replace(details, camera="Reconyx HP2", fields={}, latitude=None, longitude=None)]
    )
    folder = exported(gone, "camtrap-dp", tmp_path / "package")
    first = next(rows_in((folder / "deployments.csv").read_text(encoding="utf-8")))
    assert (first["cameraModel"], first["cameraID"]) == ("", "")
    assert first["deploymentComments"] == f"Cameras: {CANON} (0042); Reconyx HP2."


def test_a_preview_in_a_photos_place_says_nothing_of_it(gone: Labelled, tmp_path: Path) -> None:
    """The size is the photo's, as stored in the project."""
    for record in gone.project.images.records():
        gone.project.images.resolve(record).write_bytes(
            marked_as_reduced(b"\xff\xd8\xff\xd9", b"x" * 16)
        )
    found = json.loads(exported(gone, "coco", tmp_path / "out.json").read_text(encoding="utf-8"))
    assert {(image["width"], image["height"]) for image in found["images"]} == {(4000, 3000)}


def test_every_format_says_what_it_leaves_out() -> None:
    """No format claims to be lossless; those with image names only are known."""
    assert all(one.cannot_carry for one in FORMATS.values())
    assert {name for name, one in FORMATS.items() if one.names_images} == {
        "csv",
        "jsonl",
        "parquet",
        "coco",
        "cvat",
        "darwin-core",
        "camtrap-dp",
        "label-studio",
    }
