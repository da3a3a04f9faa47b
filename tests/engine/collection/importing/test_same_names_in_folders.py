"""Equal file names in several folders: the folder decides, or the label is listed as a problem."""

import unicodedata
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.collection.importing.import_labels import LabelImport, import_labels
from engine.collection.importing.match_images import ImageMatcher
from engine.interchange.labelled_images.foreign_labels import ForeignLabel
from engine.project import Project
from tests.support.labelled_images import draw, make_project

IMAGES = "cards/camA/IMG_1.png", "cards/camA/IMG_2.png", "cards/camB/DCIM/100RECNX/IMG_1.png"


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    project = make_project(tmp_path / "work")
    project.images.add(
        [draw(tmp_path / "work" / path, 20 * place) for place, path in enumerate(IMAGES)]
    )
    with project:
        yield project


def imported(project: Project, image: str) -> LabelImport:
    table = project.path.parent.with_name("elsewhere") / "labels.csv"
    table.parent.mkdir()
    table.write_text(f"image,class\n{image},Fox\n", encoding="utf-8")
    return import_labels(project, table, adds_classes=True)


def labelled(project: Project) -> list[str]:
    return [project.images.record(each).path for each in project.labels.by_image()]


@pytest.mark.parametrize(
    ("image", "meant"),
    [
        ("camA/IMG_1.png", IMAGES[0]),
        (r"cards\camA\IMG_1.png", IMAGES[0]),
        ("work/cards/camA/IMG_1.png", IMAGES[0]),
        ("IMG_2.png", IMAGES[1]),
        (r"C:\Users\ada\cards\camA\IMG_2.png", IMAGES[1]),
        ("/media/ada/trip/cards/camB/DCIM/100RECNX/IMG_1.png", IMAGES[2]),
        ("gs://bucket/camA/IMG_1.png", IMAGES[0]),
        ("s3://bucket/IMG_2.png", IMAGES[1]),
        (r"D:\Cards\CAMA\IMG_1.PNG", IMAGES[0]),
        ("img_2.PNG", IMAGES[1]),
    ],
)
def test_the_photo_in_that_folder(project: Project, image: str, meant: str) -> None:
    assert imported(project, image).labelled == 1
    assert labelled(project) == [meant]


def test_accents_may_be_composed_otherwise(tmp_path: Path) -> None:
    """Unicode normalisation is ignored; an exact match has priority."""
    composed, decomposed = (unicodedata.normalize(form, "Möwe.png") for form in ("NFC", "NFD"))
    with make_project(tmp_path / "work") as project:
        project.images.add([draw(tmp_path / "work/a" / decomposed, 20)])
        assert imported(project, composed).labelled == 1
        project.images.add(
            [draw(tmp_path / "work/a/IMG.png", 40), draw(tmp_path / "work/a/img.png", 60)]
        )
        assert not ImageMatcher(project).match(ForeignLabel("Img.PNG", ("Fox",))).images
        (found,) = ImageMatcher(project).match(ForeignLabel("img.png", ("Fox",))).images
        assert project.images.record(found).path == "a/img.png"


@pytest.mark.parametrize(
    "image",
    [
        "camC/IMG_1.png",
        "camC/camA/IMG_1.png",
        "other/cards/camA/IMG_1.png",
        "camA/DCIM/100RECNX/IMG_1.png",
        r"D:\camC\DCIM\100RECNX\IMG_1.png",
        "/media/ada/camC/IMG_1.png",
        "gs://bucket/camC/IMG_1.png",
    ],
)
def test_a_photo_of_another_folder_is_missing(project: Project, image: str) -> None:
    result = imported(project, image)
    assert (result.labelled, result.plan.missing_images) == (0, (image,))


@pytest.mark.parametrize("image", ["IMG_1.png", "gs://bucket/IMG_1.png"])
def test_a_name_that_two_images_have_is_ambiguous(project: Project, image: str) -> None:
    result = imported(project, image)
    assert (result.labelled, result.plan.missing_images) == (0, ())
    assert result.plan.ambiguous_images == {image: (IMAGES[0], IMAGES[2])}
