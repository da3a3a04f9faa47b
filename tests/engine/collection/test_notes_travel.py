"""Stars, flags and comments survive export and import; those of other programs stay."""

from dataclasses import replace
from pathlib import Path

import pytest

from engine.collection.importing.import_labels import import_labels
from engine.exporting.export import ExportChoice, Which, export_images
from engine.files import FoundFile
from engine.interchange.xmp_packet import XmpPacket, property_name
from engine.project import Project
from tests.support.images import write_jpeg
from tests.support.projects import new_project

COMMENT = 'Wing "blurred", ask Ada\nsecond line'
RATING, DESCRIPTION = property_name("xmp:Rating"), property_name("dc:description")


@pytest.fixture
def project(tmp_path: Path) -> Project:
    opened = new_project(tmp_path)
    add_photos(opened, tmp_path)
    opened.labels.set([1], opened.classes.add("Fox")[1])
    opened.notes.set_stars([1, 2], 4)
    opened.notes.set_flagged([2], True)
    opened.notes.set_comment([3], COMMENT)
    return opened


def add_photos(project: Project, folder: Path) -> None:
    for number in range(1, 5):
        path = write_jpeg(folder / f"photo{number}.jpg", width=20 + number, height=20)
        found = FoundFile.at(path)
        assert found is not None
        project.images.add([found])


def noted(project: Project) -> dict[int, tuple[int, bool, str]]:
    return {
        each.image_id: (each.stars, each.is_flagged, each.comment)
        for each in project.notes.by_image().values()
    }


@pytest.mark.parametrize(
    ("name", "out"),
    [("csv", "out.csv"), ("jsonl", "out.jsonl"), ("parquet", "out.parquet"), ("xmp", "side")],
)
def test_notes_come_back(project: Project, tmp_path: Path, name: str, out: str) -> None:
    """With labels and without, imported into a project of the same photos."""
    target = tmp_path / out
    export_images(project, {}, ExportChoice(name, target, Which.ALL))
    (tmp_path / "other").mkdir()
    other = new_project(tmp_path / "other", "other.protoleaf")
    add_photos(other, tmp_path)
    other.notes.set_stars([1], 1)
    done = import_labels(other, target, adds_classes=True)
    wanted = {1: (1, False, ""), 2: (4, True, ""), 3: (0, False, COMMENT)}
    assert noted(other) == wanted
    assert (done.labelled, done.noted) == (1, 2)
    assert other.history.undo() is not None
    assert noted(other) == {1: (1, False, "")}


def sidecar(folder: Path, number: int) -> XmpPacket:
    path = next(folder.rglob(f"photo{number}*.xmp"))
    return XmpPacket.parse(path.read_bytes(), path.name)


def test_photo_programs_find_stars_and_comment(project: Project, tmp_path: Path) -> None:
    """In the standard fields, removed with the note; other programs' values stay."""
    choice = ExportChoice("xmp", tmp_path, Which.ALL)
    export_images(project, {}, choice)
    assert sidecar(tmp_path, 2).texts(RATING) == ["4"]
    assert sidecar(tmp_path, 3).texts(DESCRIPTION)[0].startswith('Wing "blurred"')
    project.notes.set_stars([2], 0)
    project.notes.set_flagged([2], False)
    path = next(tmp_path.rglob("photo1*.xmp"))
    packet = XmpPacket.parse(path.read_bytes(), path.name)
    packet.put(RATING, "2")
    path.write_bytes(packet.data())
    project.notes.set_stars([1], 5)
    export_images(project, {}, choice)
    assert sidecar(tmp_path, 2).texts(RATING) == []
    assert sidecar(tmp_path, 1).texts(RATING) == ["2"]


def test_ratings_of_other_programs_come_in(tmp_path: Path) -> None:
    """Rating and description of a sidecar become stars and comment."""
    project = new_project(tmp_path)
    add_photos(project, tmp_path)
    packet = XmpPacket.empty("darktable")
    packet.put(RATING, "3")
    packet.put(property_name("dc:subject"), ["fox"])
    packet.put(DESCRIPTION, ["At the feeder"])
    (tmp_path / "photo1.jpg.xmp").write_bytes(packet.data())
    project.classes.add("fox")
    done = import_labels(project, tmp_path, format_name="keywords")
    assert noted(project) == {1: (3, False, "At the feeder")}
    assert (done.labelled, done.noted) == (1, 1)


@pytest.mark.parametrize("stars", ["6", "-1", "many", "4.0", "٣", ""])
def test_odd_numbers_of_stars(tmp_path: Path, stars: str) -> None:
    """Invalid ratings are clipped to five stars without errors."""
    project = new_project(tmp_path)
    add_photos(project, tmp_path)
    (tmp_path / "labels.csv").write_text(
        f"image,class,stars,comment\nphoto1.jpg,Fox,{stars},x\n", encoding="utf-8"
    )
    import_labels(project, tmp_path / "labels.csv", adds_classes=True)
    assert noted(project)[1] == ({"6": 5, "4.0": 4}.get(stars, 0), False, "x")


def test_an_export_without_notes_is_read_as_before(project: Project, tmp_path: Path) -> None:
    choice = ExportChoice("csv", tmp_path / "a.csv", Which.VERIFIED)
    export_images(project, {}, choice)
    text = (tmp_path / "a.csv").read_text(encoding="utf-8")
    (tmp_path / "b.csv").write_text(
        text.replace("stars,flagged,comment,", "a,b,c,"), encoding="utf-8"
    )
    assert import_labels(project, tmp_path / "b.csv").noted == 0
    assert replace(choice).out.exists()
