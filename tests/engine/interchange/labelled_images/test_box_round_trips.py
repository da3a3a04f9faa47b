"""Boxes survive every format that has them, to a tenth of a pixel; other programs find them."""

import csv
import json
from dataclasses import replace
from pathlib import Path

import pytest
from PIL import Image
from pycocotools.coco import COCO

from engine.file_parts import BoundingBox, FilePart
from engine.interchange.labelled_images.class_folders import FolderOptions
from engine.interchange.labelled_images.foreign_labels import ForeignLabel
from engine.interchange.labelled_images.formats import FORMATS, READ_FORMATS, detect
from engine.interchange.labelled_images.records import LabelledImage, LabelledImages
from tests.support.boxed_images import BOXES, SIZES, boxed_images

CARRIERS = (
    "csv",
    "jsonl",
    "parquet",
    "coco",
    "cvat",
    "label-studio",
    "fiftyone",
    "camtrap-dp",
    "yolo-detection",
    "folders",
)
NEAR_PIXELS = 0.1


@pytest.fixture(scope="module")
def boxed(tmp_path_factory: pytest.TempPathFactory) -> LabelledImages:
    return boxed_images(tmp_path_factory.mktemp("collection"))


def written(
    images: LabelledImages, name: str, folder: Path, options: FolderOptions | None = None
) -> Path:
    one, out = FORMATS[name], folder / f"out{FORMATS[name].suffix}"
    if one.write_file is not None:
        with out.open("wb") as file:
            one.write_file(images, file)
    else:
        assert one.write_folder is not None
        out.mkdir()
        one.write_folder(images, out, options or FolderOptions())
    return out


def read(source: Path, name: str) -> list[ForeignLabel]:
    one = READ_FORMATS[name]
    if one.read_table is not None:
        return list(one.read_table(source, None).labels)
    assert one.read is not None
    found = one.read(source)
    assert found.problems == ()
    return list(found.labels)


def pixels(box: BoundingBox | None, file: Path) -> tuple[float, ...]:
    width, height = shown_size(file)
    return (0, 0, width, height) if box is None else box.in_pixels((width, height))


def shown_size(file: Path) -> tuple[int, int]:
    with Image.open(file) as image:
        is_turned = image.getexif().get(0x0112, 1) == 6
        return image.size[::-1] if is_turned else image.size


@pytest.mark.parametrize("name", CARRIERS)
@pytest.mark.parametrize("seed", [1, 2])
def test_boxes_come_back(tmp_path: Path, name: str, seed: int) -> None:
    """Each with its label, or without one, its category, score, count and fields."""
    images = boxed_images(tmp_path / "collection", seed)
    source = written(images, name, tmp_path)
    assert detect(source) == name
    found = read(source, name)
    assert (
        len({(label.image, label.part.text) for label in found}) == len(found) == len(images.images)
    )
    for image in images.images:
        expect_same(image, nearest(image, found), images)


@pytest.mark.parametrize("name", CARRIERS)
def test_a_class_with_a_slash_in_its_name_keeps_its_path(tmp_path: Path, name: str) -> None:
    """Also where the format has its bare name for boxes."""
    images = boxed_images(tmp_path / "collection")
    images.graph.rename(images.graph.find("Lynx"), "Lynx/Bobcat")
    found = read(written(images, name, tmp_path), name)
    expected = {
        () if each.class_id is None else images.paths(each.class_id)[0] for each in images.images
    }
    assert {label.names for label in found} == expected


def nearest(image: LabelledImage, labels: list[ForeignLabel]) -> ForeignLabel:
    """The label of the same image whose box is the same to a tenth of a pixel."""
    wanted = pixels(image.part.box, image.file)
    for label in labels:
        if label.image == image.path and label.part._replace(box=None) == image.part._replace(
            box=None
        ):
            there = pixels(label.part.box, image.file)
            if (label.part.box is None) is (image.part.box is None) and there == pytest.approx(
                wanted, abs=NEAR_PIXELS
            ):
                return label
    raise AssertionError(f"no label of {image.path} {image.part.text}")


def expect_same(image: LabelledImage, label: ForeignLabel, images: LabelledImages) -> None:
    is_verified = image.label is not None
    assert label.is_machine is not is_verified
    assert label.is_empty is image.is_empty
    path = () if image.class_id is None else images.paths(image.class_id)[0]
    assert label.names == path
    assert label.who == ("ada" if is_verified else "")
    assert label.is_box_alone is (image.class_id is None and not image.is_empty)
    assert label.category == image.category
    assert label.score == (
        None if image.detection_score is None else pytest.approx(image.detection_score)
    )
    assert label.count == image.count
    assert dict(label.fields) == image.fields


def test_coco_as_pycocotools_has_it(boxed: LabelledImages, tmp_path: Path) -> None:
    """An entry for each image, and an annotation for each box in displayed pixels."""
    coco = COCO(str(written(boxed, "coco", tmp_path)))
    assert len(coco.getImgIds()) == len(SIZES) + 2
    for image_id, size in zip(coco.getImgIds(), SIZES, strict=False):
        entry = coco.loadImgs([image_id])[0]
        assert (entry["width"], entry["height"]) == size
        items = [image for image in boxed.images if image.path == entry["file_name"]]
        annotations = coco.loadAnns(coco.getAnnIds(imgIds=[image_id]))
        assert len(annotations) == BOXES
        for item, annotation in zip(items, annotations, strict=True):
            assert item.part.box is not None
            assert annotation["bbox"] == pytest.approx(
                item.part.box.in_pixels(size), abs=NEAR_PIXELS
            )
    names = {each["name"] for each in coco.loadCats(coco.getCatIds())}
    assert names == {"Mammal", "Red fox", "Badger", "Lynx", "animal", "object", "blank"}


def test_a_picture_is_one_entry(boxed: LabelledImages, tmp_path: Path) -> None:
    """In every format of annotation tools."""
    cvat = written(boxed, "cvat", tmp_path).read_text()
    assert cvat.count("<image ") == len(SIZES) + 2
    assert cvat.count("<box ") == len(SIZES) * BOXES
    tasks = json.loads((written(boxed, "label-studio", tmp_path) / "tasks.json").read_text())
    assert len(tasks) == len(SIZES) + 2
    configuration = (tmp_path / "out/labelling.xml").read_text()
    assert '<RectangleLabels name="box" toName="image">' in configuration


def test_boxes_of_fiftyone_are_detections(boxed: LabelledImages, tmp_path: Path) -> None:
    folder = written(boxed, "fiftyone", tmp_path)
    labels = json.loads((folder / "labels.json").read_text())["labels"]
    assert sorted(map(len, labels.values())) == [1, 2, *[BOXES] * len(SIZES)]
    assert all(len(each["bounding_box"]) == 4 for found in labels.values() for each in found)
    assert len(list((folder / "data").rglob("*.jpg"))) == len(SIZES) + 2


def test_yolo_detection_as_trainers_read_it(boxed: LabelledImages, tmp_path: Path) -> None:
    """A text for each image: numbers of classes and shares; an empty one for an empty image."""
    folder = written(boxed, "yolo-detection", tmp_path)
    pictures = sorted(
        each.relative_to(folder / "images").with_suffix("")
        for each in folder.rglob("images/*/*.jpg")
    )
    texts = sorted(
        each.relative_to(folder / "labels").with_suffix("")
        for each in folder.rglob("labels/*/*.txt")
    )
    assert pictures == texts
    assert len(texts) == len(SIZES) + 2
    rows = [
        line.split()
        for text in folder.rglob("labels/*/*.txt")
        for line in text.read_text().splitlines()
    ]
    assert len(rows) == len(SIZES) * (BOXES - 2) + 2
    assert {row[0] for row in rows} <= {"0", "1", "2"}
    assert all(0 <= float(number) <= 1 for row in rows for number in row[1:])
    assert next(folder.rglob("empty.txt")).read_text() == ""
    assert (folder / "data.yaml").read_text().splitlines()[:3] == [
        "train: images/train",
        "val: images/val",
        "names:",
    ]


def test_yolo_rows_that_another_program_changed(boxed: LabelledImages, tmp_path: Path) -> None:
    """Such a box is nobody's whom our table names, and one that was removed is gone."""
    folder = written(boxed, "yolo-detection", tmp_path)
    text = next(
        each for each in folder.rglob("labels/*/*.txt") if len(each.read_text().splitlines()) > 2
    )
    first, _, *others = text.read_text().splitlines(keepends=True)
    number, *place = first.split()
    text.write_text(" ".join((number, "0.5", *place[1:])) + "\n" + "".join(others))
    found = read(folder, "yolo-detection")
    assert len(found) == len(boxed.images) - 1
    assert [
        label.who for label in found if label.file == text_image(text) and not label.is_machine
    ].count("") == 1


def text_image(text: Path) -> Path:
    return Path(str(text).replace("/labels/", "/images/")).with_suffix(".jpg")


def test_observations_have_boxes_and_counts(boxed: LabelledImages, tmp_path: Path) -> None:
    """A file is a medium; an empty one is blank, a box of a detector an unnamed animal."""
    folder = written(boxed, "camtrap-dp", tmp_path)
    (folder / "images.csv").unlink()
    assert len((folder / "media.csv").read_text().splitlines()) == 1 + len(SIZES) + 2
    found = read(folder, "camtrap-dp")
    counted = [label for label in found if label.count == 5]
    assert {dict(label.fields)["sex"] for label in counted} == {"female"}
    assert len(counted) == len(SIZES) + 1
    (empty,) = [label for label in found if label.is_empty]
    assert (empty.image, empty.may_be_none) == ("empty.jpg", True)
    alone = [label for label in found if label.is_box_alone and label.category == "animal"]
    assert [label.score for label in alone] == [pytest.approx(0.75)] * len(SIZES)
    for image in boxed.images:
        if image.part.thing is None:
            nearest(image, found)


def test_observations_fit_the_standard(boxed: LabelledImages, tmp_path: Path) -> None:
    """Columns of things have the values of the schema; other values are comments."""
    odd = replace(
        boxed.images[0],
        count=0,
        facts={"lifeStage": "Adult", "sex": "unknown", "behavior": "asleep"},
    )
    folder = written(replace(boxed, images=[odd, *boxed.images[1:]]), "camtrap-dp", tmp_path)
    with (folder / "observations.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    media = {line.split(",")[0] for line in (folder / "media.csv").read_text().splitlines()[1:]}
    assert {row["mediaID"] for row in rows} == media
    for row in rows:
        box = [
            float(row[name]) for name in ("bboxX", "bboxY", "bboxWidth", "bboxHeight") if row[name]
        ]
        assert len(box) in {0, 4}
        assert all(0 <= share <= 1 for share in box)
        assert all(share > 0 for share in box[2:])
        assert row["count"] == "" or int(row["count"]) >= 1
        assert row["observationLevel"] == "media"
        assert (
            row["classificationProbability"] == ""
            or 0 <= float(row["classificationProbability"]) <= 1
        )
    first = rows[0]
    facts = first["lifeStage"], first["sex"], first["behavior"], first["observationComments"]
    assert facts == ("adult", "", "asleep", "sex: unknown")


@pytest.mark.slow
def test_crops_of_class_folders(boxed: LabelledImages, tmp_path: Path) -> None:
    """Crops are named by file and box, upright; the table still has the images."""
    folder = written(boxed, "folders", tmp_path, FolderOptions(has_crops=True))
    crops = [each for each in folder.rglob("*.jpg") if each.name != "whole.jpg"]
    with_class = [
        image for image in boxed.images if image.part.box is not None and image.class_id is not None
    ]
    assert len(crops) == len(with_class)
    by_name = {each.name: each for each in crops}
    for image in with_class:
        assert image.part.box is not None
        name = (
            f"{image.file.stem} "
            f"{'-'.join(str(round(share * 1000)) for share in image.part.box)}.jpg"
        )
        with Image.open(by_name[name]) as crop:
            width, height = image.part.box.in_pixels(shown_size(image.file))[2:]
            assert crop.size == pytest.approx((width, height), abs=1.01)
    for image in boxed.images:
        label = nearest(image, read(folder, "folders"))
        assert label.file == image.file or label.part.box is None


@pytest.mark.parametrize("has_crops", [False, True])
def test_pages_and_moments_are_made_of_their_files(
    boxed: LabelledImages, tmp_path: Path, has_crops: bool
) -> None:
    """The picture of a page or frame is placed once for all boxes of a class in it."""
    first = replace(boxed.images[0], file=Path("/x/plates.pdf"), path="plates.pdf")
    page, box = FilePart(page=2), first.part.box
    items = [replace(first, part=page), replace(first, image_id=2, part=page._replace(box=box))]
    items.append(replace(first, image_id=3, part=FilePart(seconds=2.5)))
    made: list[FilePart] = []

    def crop_of(_file: Path, part: FilePart) -> bytes:
        made.append(part)
        return b"picture"

    images = replace(boxed, images=items, crop_of=crop_of)
    folder = written(images, "folders", tmp_path, FolderOptions(has_crops=has_crops))
    names = {each.name for each in folder.rglob("*.jpg")}
    assert names >= {"plates p2.jpg", "plates 2.5s.jpg"}
    assert made == ([page, items[1].part, items[2].part] if has_crops else [page, items[2].part])
    assert len(names) == len(made)
    assert [label.part for label in read(folder, "folders")] == [each.part for each in items]


def test_a_file_lies_once_in_each_folder(boxed: LabelledImages, tmp_path: Path) -> None:
    folder = written(boxed, "folders", tmp_path)
    files = [each.relative_to(folder).as_posix() for each in folder.rglob("*.jpg")]
    assert len(files) == len(
        {(image.path, image.class_id) for image in boxed.images if image.class_id is not None}
    )
    assert not any("(2)" in each for each in files)


def test_occurrences_have_counts_and_absences(boxed: LabelledImages, tmp_path: Path) -> None:
    found = read(written(boxed, "darwin-core", tmp_path), "darwin-core")
    assert [label.count for label in found if label.count] == [5] * (len(SIZES) + 1)
    assert [label.image for label in found if label.is_empty] == ["empty.jpg"]
    assert len({(label.image, label.part) for label in found}) == len(found)


def test_a_sidecar_has_the_classes_of_all_boxes(boxed: LabelledImages, tmp_path: Path) -> None:
    folder = written(boxed, "xmp", tmp_path)
    text = next(folder.rglob("photo 0*.xmp")).read_text()
    assert all(name in text for name in ("Red fox", "Badger", "Lynx"))


def test_empty_images_alone_come_back_from_yolo(boxed: LabelledImages, tmp_path: Path) -> None:
    """No class has a number then."""
    images = [each for each in boxed.images if each.is_empty]
    found = read(
        written(replace(boxed, images=images), "yolo-detection", tmp_path), "yolo-detection"
    )
    assert [(label.names, label.is_empty) for label in found] == [((), True)]
