"""Boxes in files as other programs write them, on an image of 640 by 480 pixels."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from engine.collection.importing.label_plan import read_labels
from engine.errors import FormatError
from engine.file_parts import MOST_BOXES, WHOLE_FILE, FilePart
from engine.interchange.labelled_images.foreign_labels import ForeignLabel, ForeignLabels
from tests.support.boxed_images import draw_photo

SIZE = 640, 480
FOX = (64.0, 48.0, 320.0, 240.0)  # left, top, width and height in pixels


def lay(folder: Path, files: Mapping[str, object]) -> Path:
    """A folder with photos, texts, and what is written as JSON."""
    for name, content in files.items():
        if name.endswith(".jpg"):
            draw_photo(folder / name, SIZE)
            continue
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        text = content if isinstance(content, str) else json.dumps(content, indent=1)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def read(source: Path, form: str) -> ForeignLabels:
    name, found = read_labels(source)
    assert name == form
    return found


def pixels(label: ForeignLabel) -> tuple[float, ...]:
    assert label.part.box is not None
    return tuple(round(each, 2) for each in label.part.box.in_pixels(SIZE))


def shown(found: ForeignLabels) -> list[tuple[str, tuple[str, ...], tuple[float, ...]]]:
    return [(label.image, label.names, pixels(label)) for label in found.labels]


# -- detectors

MEGADETECTOR = {
    "info": {
        "detection_completion_time": "2026-05-01 10:00:00",
        "format_version": "1.4",
        "detector": "v5a.0.0",
    },
    "detection_categories": {"1": "animal", "2": "person", "3": "vehicle"},
    "classification_categories": {"0": "fox", "1": "badger"},
    "images": [
        {
            "file": "camA\\IMG_0001.JPG",
            "detections": [
                {
                    "category": "1",
                    "conf": 0.926,
                    "bbox": [0.1, 0.1, 0.5, 0.5],
                    "classifications": [["0", 0.87], ["1", 0.1]],
                },
                {"category": "2", "conf": 0.41, "bbox": [0.5, 0.25, 0.5, 0.75]},
            ],
        },
        {"file": "camA\\IMG_0002.JPG", "detections": []},
        {"file": "camA\\IMG_0003.JPG", "failure": "Image access failure", "detections": None},
        {
            "file": "clip.mp4",
            "frame_rate": 10,
            "detections": [
                {"category": "1", "conf": 0.5, "bbox": [0, 0, 1, 1], "frame_number": 25}
            ],
        },
    ],
}


def test_results_of_megadetector(tmp_path: Path) -> None:
    """Boxes without a label; answers of a classifier are predictions; failures are problems."""
    found = read(lay(tmp_path, {"results.json": MEGADETECTOR}) / "results.json", "megadetector")
    fox, person, in_video = found.labels
    assert (fox.image, fox.names, fox.is_machine, fox.category, fox.score) == (
        "camA\\IMG_0001.JPG",
        ("fox",),
        True,
        "animal",
        0.926,
    )
    assert fox.file == tmp_path / "camA/IMG_0001.JPG"
    assert pixels(fox) == FOX
    assert (person.is_box_alone, person.category, person.score) == (True, "person", 0.41)
    assert (in_video.part.seconds, in_video.is_box_alone) == (2.5, True)
    assert not any(label.is_empty for label in found.labels)
    assert found.unlabelled == 1
    assert found.problems == (
        "camA\\IMG_0003.JPG: the detector could not read it: Image access failure",
    )


def test_predictions_of_speciesnet(tmp_path: Path) -> None:
    """Its answer for the image is a model's, and so is a blank."""
    fox = "0e1d;mammalia;carnivora;canidae;vulpes;vulpes;red fox"
    box = {"category": "1", "label": "animal", "conf": 0.94, "bbox": [0.1, 0.1, 0.5, 0.5]}
    predictions = [
        {
            "filepath": "a.jpg",
            "country": "DEU",
            "classifications": {"classes": [fox], "scores": [0.9]},
            "detections": [box],
            "prediction": fox,
            "prediction_score": 0.9,
            "prediction_source": "classifier",
        },
        {
            "filepath": "b.jpg",
            "detections": [],
            "prediction": "f1;;;;;;blank",
            "prediction_score": 0.99,
        },
        {
            "filepath": "c.jpg",
            "failures": ["DETECTOR"],
            "prediction": "f2;no cv result;no cv result;;;;no cv result",
        },
    ]
    found = read(lay(tmp_path, {"predictions.json": {"predictions": predictions}}), "megadetector")
    animal, answer, blank = found.labels[:3]
    assert (animal.is_box_alone, animal.category, pixels(animal)) == (True, "animal", FOX)
    assert answer.names == ("mammalia", "carnivora", "canidae", "vulpes", "vulpes vulpes")
    assert (answer.other_names, answer.part, answer.is_machine) == (("red fox",), WHOLE_FILE, True)
    assert (blank.image, blank.is_empty, blank.is_machine) == ("b.jpg", True, True)
    assert len(found.problems) == 1


def coco(annotations: list[dict[str, Any]], names: tuple[str, ...], **entry: Any) -> dict[str, Any]:
    return {
        "images": [{"id": 1, "file_name": "a.jpg", "width": 640, "height": 480, **entry}],
        "annotations": [
            {"id": number, "image_id": 1, **each}
            for number, each in enumerate(annotations, start=1)
        ],
        "categories": [{"id": number, "name": name} for number, name in enumerate(names, start=1)],
    }


def test_coco_of_people(tmp_path: Path) -> None:
    """Two classes are two labels; a box around all is the image; segments have a box."""
    annotations = [
        {"category_id": 1, "bbox": list(FOX)},
        {"category_id": 2, "bbox": [0, 0.4, 639.7, 479]},
        {"category_id": 2, "segmentation": [[64, 48, 384, 48, 384, 288]], "bbox": []},
        {
            "category_id": 1,
            "bbox": [10, 20, 30, 40],
            "segmentation": {"counts": "abc", "size": [480, 640]},
            "iscrowd": 1,
        },
        {"category_id": 1, "bbox": [1, 2, 3, 4], "score": 0.8},
    ]
    found = read(lay(tmp_path, {"a.json": coco(annotations, ("fox", "badger"))}) / "a.json", "coco")
    fox, whole, polygon, mask, result = found.labels
    assert (fox.names, pixels(fox), fox.is_machine) == (("fox",), FOX, False)
    assert (whole.names, whole.part) == (("badger",), WHOLE_FILE)
    assert (polygon.names, pixels(polygon)) == (("badger",), FOX)
    assert pixels(mask) == (10, 20, 30, 40)
    assert (result.is_machine, result.score) == (True, 0.8)


def test_two_species_without_boxes(tmp_path: Path) -> None:
    """As camera traps' COCO has them: two things in one image, neither replaces the other."""
    annotations = [{"category_id": number} for number in (1, 2, 1)]
    found = read(lay(tmp_path, {"a.json": coco(annotations, ("fox", "badger"))}) / "a.json", "coco")
    assert [(label.names, label.part) for label in found.labels] == [
        (("fox",), WHOLE_FILE),
        (("badger",), FilePart(thing=2)),
    ]


def test_coco_of_a_detector(tmp_path: Path) -> None:
    annotations = [
        {"category_id": 1, "bbox": list(FOX), "score": 0.7},
        {"category_id": 2, "bbox": [0, 0, 99, 99]},
    ]
    found = read(
        lay(tmp_path, {"a.json": coco(annotations, ("animal", "person"))}) / "a.json", "coco"
    )
    assert [(label.is_box_alone, label.category, label.score) for label in found.labels] == [
        (True, "animal", 0.7),
        (True, "person", None),
    ]


def test_an_empty_category(tmp_path: Path) -> None:
    """Camera traps' COCO calls empty images so; a class of that name is still meant by it."""
    found = read(
        lay(tmp_path, {"a.json": coco([{"category_id": 1}], ("empty", "fox"))}) / "a.json", "coco"
    )
    (empty,) = found.labels
    assert (empty.is_empty, empty.may_be_none, empty.names) == (True, True, ("empty",))


@pytest.mark.parametrize("size", [{"width": 0, "height": 0}, {"width": None, "height": None}])
def test_a_size_that_is_not_written_is_read_from_the_image(
    tmp_path: Path, size: dict[str, Any]
) -> None:
    whole = coco([{"category_id": 1, "bbox": list(FOX)}], ("fox", "badger"), **size)
    folder = lay(tmp_path, {"a.json": whole})
    assert "put the image next to it" in read(folder / "a.json", "coco").problems[0]
    draw_photo(folder / "a.jpg", SIZE, is_turned=True)
    (fox,) = read(folder / "a.json", "coco").labels
    assert pixels(fox) == FOX


# -- people's files

VOC = """<annotation verified="yes">
  <folder>JPEGImages</folder><filename>a.jpg</filename><source><database>Unknown</database></source>
  <size><width>640</width><height>480</height><depth>3</depth></size><segmented>0</segmented>
  <object><name>fox</name><pose>Unspecified</pose><truncated>0</truncated><difficult>0</difficult>
    <bndbox><xmin>64</xmin><ymin>48</ymin><xmax>384</xmax><ymax>288</ymax></bndbox></object>
  <object><name>badger</name><bndbox><xmin>1</xmin><ymin>1</ymin><xmax>640</xmax><ymax>480</ymax>\
</bndbox></object>
</annotation>"""


def test_pascal_voc(tmp_path: Path) -> None:
    """Pixels from 1 are tolerated: such a box around all is the image."""
    folder = lay(tmp_path / "set", {"JPEGImages/a.jpg": "", "Annotations/a.xml": VOC})
    fox, badger = read(folder, "pascal-voc").labels
    assert (fox.image, fox.file, fox.names) == (
        "JPEGImages/a.jpg",
        folder / "JPEGImages/a.jpg",
        ("fox",),
    )
    assert pixels(fox) == FOX
    assert (badger.names, badger.part) == (("badger",), WHOLE_FILE)
    (alone, _) = read(folder / "Annotations/a.xml", "pascal-voc").labels
    assert alone.names == ("fox",)


def test_boxes_of_a_picture_lying_on_its_side(tmp_path: Path) -> None:
    """A swapped size is refused: it is unknown where such boxes are upright."""
    on_its_side = VOC.replace("<width>640", "<width>480").replace("<height>480", "<height>640")
    folder = lay(tmp_path, {"a.xml": on_its_side})
    draw_photo(folder / "a.jpg", SIZE, is_turned=True)
    found = read(folder, "pascal-voc")
    assert found.labels == ()
    assert "unrotated picture" in found.problems[0]


YOLO_ROWS = "1 0.35 0.35 0.5 0.5\n0 0.1 0.1 0.6 0.1 0.6 0.6 0.1 0.6\n"


@pytest.mark.parametrize(
    "files",
    [
        {
            "data.yaml": (
                "train: ../train/images\nval: ../valid/images\n\nnc: 2\nnames: "
                "['badger', 'red fox']\n"
            ),
            "train/images/a.jpg": "",
            "train/labels/a.txt": YOLO_ROWS,
        },
        {
            "data.yaml": (
                "path: /x\ntrain: images/train\nval: images/val\nnames:\n  0: badger\n"
                '  1: "red\\x20fox"\n'
            ),
            "images/train/a.jpg": "",
            "labels/train/a.txt": YOLO_ROWS,
        },
        {
            "set.yaml": "train: a\nval: b\nnames:\n- badger\n- red fox\nnc: 2\n",
            "images/train/a.jpg": "",
            "labels/train/a.txt": YOLO_ROWS,
        },
        {
            "obj.names": "badger\nred fox\n",
            "obj.data": "classes = 2\ntrain = t.txt\nnames = data/obj.names\n",
            "obj_train_data/a.jpg": "",
            "obj_train_data/a.txt": YOLO_ROWS,
            "train.txt": "data/obj_train_data/a.jpg\n",
        },
        {"classes.txt": "badger\nred fox\n", "images/a.jpg": "", "labels/a.txt": YOLO_ROWS},
    ],
)
def test_yolo(tmp_path: Path, files: Mapping[str, str]) -> None:
    """Layouts of Ultralytics, Roboflow, Darknet and labelImg; a polygon has a bounding box."""
    folder = lay(tmp_path / "set", files)
    found = read(folder, "yolo-detection")
    image = next(name for name in files if name.endswith(".jpg"))
    assert shown(found) == [(image, ("red fox",), FOX), (image, ("badger",), FOX)]
    assert found.labels[0].file == folder / image
    text = next(name for name in files if name.endswith("/a.txt"))
    assert [label.names for label in read(folder / text, "yolo-detection").labels] == [
        ("red fox",),
        ("badger",),
    ]


def test_predictions_of_yolo(tmp_path: Path) -> None:
    """Rows with a score are a model's; one row that is none does not hide the others."""
    rows = "0 0.35 0.35 0.5 0.5 0.9\n7 0.5 0.5 0.1 0.1\n0 nan 0.5 0.1 0.1\n0 0.5 0.5 0.1\n"
    folder = lay(
        tmp_path / "set",
        {"classes.txt": "fox\n", "a.jpg": "", "a.txt": rows, "b.jpg": "", "b.txt": ""},
    )
    (folder / "c.txt").write_text("0 0.5 0.5 0.1 0.1\n")
    found = read(folder, "yolo-detection")
    assert [(label.image, label.is_machine, label.score) for label in found.labels] == [
        ("a.jpg", True, 0.9),
        ("c", False, None),
    ]
    assert len(found.problems) == 3
    assert found.unlabelled == 1


def test_yolo_without_names(tmp_path: Path) -> None:
    folder = lay(tmp_path / "set", {"images/a.jpg": "", "labels/a.txt": YOLO_ROWS})
    with pytest.raises(FormatError, match="without class names"):
        read_labels(folder)


LABELME = {
    "version": "5.4.1",
    "flags": {"night": True, "blurred": False},
    "shapes": [
        {
            "label": "fox",
            "points": [[384, 288], [64, 48]],
            "group_id": None,
            "shape_type": "rectangle",
            "flags": {},
        },
        {"label": "badger", "points": [[64, 48], [384, 48], [200, 288]], "shape_type": "polygon"},
        {"label": "lynx", "points": [[100, 100], [130, 140]], "shape_type": "circle"},
        {"label": "tip", "points": [[5, 5]], "shape_type": "point"},
    ],
    "imagePath": "..\\photos\\a.jpg",
    "imageData": None,
    "imageHeight": 480,
    "imageWidth": 640,
}


def test_labelme(tmp_path: Path) -> None:
    """Flags that are set are about the image; a point has no box."""
    found = read(lay(tmp_path / "set", {"fox/a.json": LABELME}), "labelme")
    flag, fox, badger, lynx = found.labels
    assert (flag.names, flag.part) == (("night",), WHOLE_FILE)
    assert [pixels(each) for each in (fox, badger, lynx)] == [FOX, FOX, (50, 50, 100, 100)]
    assert fox.image == "photos/a.jpg"
    assert len(found.problems) == 1


CVAT = """<?xml version="1.0" encoding="utf-8"?>
<annotations><version>1.1</version>
  <image id="0" name="camA/a.jpg" width="640" height="480">
    <tag label="night" source="manual"></tag>
    <box label="fox" source="manual" occluded="0" xtl="64.00" ytl="48.00" xbr="384.00" \
ybr="288.00" z_order="0"></box>
    <box label="lynx" source="auto" xtl="100" ytl="140" xbr="200" ybr="160" rotation="90.0" \
z_order="0"></box>
    <polygon label="badger" source="manual" points="64.0,48.0;384.0,48.0;200.0,288.0" z_order="0">\
</polygon>
    <mask label="badger" source="manual" rle="3, 4" left="10" top="20" width="30" height="40">\
</mask>
    <ellipse label="badger" source="manual" cx="100" cy="100" rx="50" ry="20"></ellipse>
    <cuboid label="badger" source="manual" xtl1="64" ytl1="48" xbl1="64" ybl1="200" xtr1="300" \
ytr1="48" xbr1="300"
      ybr1="200" xtl2="384" ytl2="60" xbl2="384" ybl2="288" xtr2="350" ytr2="60" xbr2="350" \
ybr2="288"></cuboid>
    <skeleton label="badger" source="manual"><points points="64,48"/><points points="384,288"/>\
</skeleton>
  </image>
</annotations>"""


def test_cvat(tmp_path: Path) -> None:
    """A box that is turned counts as the upright one around it, and so does any shape."""
    found = read(lay(tmp_path, {"a.xml": CVAT}) / "a.xml", "cvat")
    tag, *boxes = found.labels
    assert (tag.names, tag.part) == (("night",), WHOLE_FILE)
    assert [(each.names[0], pixels(each), each.is_machine) for each in boxes] == [
        ("fox", FOX, False),
        ("lynx", (140, 100, 20, 100), True),
        ("badger", FOX, False),
        ("badger", (10, 20, 30, 40), False),
        ("badger", (50, 80, 100, 40), False),
    ]  # cuboid and skeleton are the same box of the same class as the polygon


def label_studio_result(label: str, **value: Any) -> dict[str, Any]:
    place = {"x": 10, "y": 10, "width": 50, "height": 50, "rotation": 0, **value}
    size = {"original_width": 640, "original_height": 480, "image_rotation": 0}
    kind = {
        "id": f"r-{label}",
        "from_name": "label",
        "to_name": "image",
        "type": "rectanglelabels",
        "origin": "manual",
    }
    return {**size, **kind, "value": {**place, "rectanglelabels": [label]}}


def test_label_studio(tmp_path: Path) -> None:
    """Percent of the image; rotated boxes have a bounding box; predictions are a model's."""
    turned = label_studio_result("lynx", x=50, y=50, width=10, height=10, rotation=90)
    choice = {
        "id": "c",
        "from_name": "c",
        "to_name": "image",
        "type": "choices",
        "value": {"choices": ["night"]},
    }
    task = {
        "id": 1,
        "data": {"image": "/data/upload/1/0a1b2c3d-a.jpg"},
        "annotations": [
            {
                "completed_by": {"email": "ada@example.org"},
                "result": [label_studio_result("fox"), turned, choice],
            }
        ],
        "predictions": [
            {"score": 0.5, "result": [{**label_studio_result("badger"), "score": 0.6}]}
        ],
    }
    found = read(lay(tmp_path, {"a.json": [task]}) / "a.json", "label-studio")
    night, fox, lynx, badger = found.labels
    assert (night.names, night.part) == (("night",), WHOLE_FILE)
    assert (fox.names, pixels(fox), fox.who, fox.is_machine) == (
        ("fox",),
        FOX,
        "ada@example.org",
        False,
    )
    assert pixels(lynx) == (272, 240, 48, 64)
    assert (badger.names, badger.is_machine, badger.score) == (("badger",), True, 0.6)
    assert found.unlabelled == 0


def test_choices_for_regions_of_label_studio(tmp_path: Path) -> None:
    """A rectangle without a class, and the choice for it, which repeats its place."""
    value = {"x": 10, "y": 10, "width": 50, "height": 50, "rotation": 0}
    size = {"id": "r", "to_name": "image", "original_width": 640, "original_height": 480}
    results = [
        {**size, "from_name": "rect", "type": "rectangle", "value": value},
        {**size, "from_name": "kind", "type": "choices", "value": {**value, "choices": ["fox"]}},
    ]
    task = {"data": {"image": "a.jpg"}, "annotations": [{"result": results}]}
    found = read(lay(tmp_path, {"a.json": [task]}) / "a.json", "label-studio")
    assert shown(found) == [("a.jpg", ("fox",), FOX)]


def test_images_of_label_studio_in_coco(tmp_path: Path) -> None:
    """It names them as its server does; they lie in `images`, or on the disk."""
    served = tmp_path / "photos" / "b c.jpg"
    names = (
        "../media/upload/7/037449b8-a.jpg",
        f"/data/local-files/?d={str(served)[1:].replace(' ', '%20')}",
    )
    whole = coco(
        [{"id": 1, "image_id": 1, "category_id": 1, "bbox": [64, 48, 320, 240]}],
        ("fox",),
        file_name=names[0],
    )
    whole["images"].append({**whole["images"][0], "id": 2, "file_name": names[1]})
    whole["annotations"].append({**whole["annotations"][0], "id": 2, "image_id": 2})
    folder = (
        lay(
            tmp_path,
            {"out/images/037449b8-a.jpg": "", "photos/b c.jpg": "", "out/result.json": whole},
        )
        / "out"
    )
    uploaded, local = read(folder, "coco").labels
    assert (uploaded.image, uploaded.file) == ("a.jpg", folder / "images" / "037449b8-a.jpg")
    assert (local.image, local.file) == (str(served)[1:], served)


FIFTYONE_VOC = """<annotation><filename>a.jpg</filename><size><width>640</width><height>\
480</height></size><object>\
<name>fox</name><bndbox><xmin>64</xmin><ymin>48</ymin><xmax>384</xmax><ymax>288</ymax></bndbox>\
</object></annotation>"""
FIFTYONE_CVAT = """<annotations><image name="a.jpg" width="640" height="480">\
<box label="fox" xtl="64" ytl="48" xbr="384" ybr="288"/></image></annotations>"""


@pytest.mark.parametrize(
    ("name", "content", "form"),
    [
        (
            "labels.json",
            coco([{"id": 1, "image_id": 1, "category_id": 1, "bbox": FOX}], ("fox",)),
            "coco",
        ),
        (
            "labels.json",
            {
                "classes": None,
                "labels": {"a": [{"label": "fox", "bounding_box": [0.1, 0.1, 0.5, 0.5]}]},
            },
            "fiftyone",
        ),
        ("labels.xml", FIFTYONE_CVAT, "cvat"),
        ("labels/a.xml", FIFTYONE_VOC, "pascal-voc"),
    ],
)
def test_folders_of_fiftyone(tmp_path: Path, name: str, content: object, form: str) -> None:
    """A file or folder of labels next to the images in `data`, which is not a class."""
    (fox,) = read(lay(tmp_path, {"data/a.jpg": "", name: content}), form).labels
    assert fox.names == ("fox",)
    assert fox.file == tmp_path / "data" / "a.jpg"
    assert pixels(fox) == pytest.approx(FOX, abs=1)


OBSERVATIONS = """observationID,deploymentID,mediaID,eventID,eventStart,eventEnd,observationLevel,\
observationType,\
scientificName,count,lifeStage,sex,behavior,bboxX,bboxY,bboxWidth,bboxHeight,classificationMethod,\
classifiedBy,\
classificationProbability
o1,d,m1,e1,,,media,animal,Vulpes vulpes,1,adult,female,foraging,0.1,0.1,0.5,0.5,human,ada,
o2,d,m1,e1,,,media,animal,,1,,,,0.5,0.25,0.5,0.75,machine,MegaDetector v5a,0.91
o3,d,m2,e1,,,media,human,,,,,,0.1,0.1,0.5,0.5,machine,MegaDetector v5a,0.66
o4,d,m2,e1,,,media,blank,,,,,,,,,,human,ada,
o5,d,m3,e1,,,media,animal,Meles meles,3,,,,,,,,human,ada,
o6,d,m3,e1,,,media,animal,Meles meles,1,,,,0.1,0.1,0,0.5,human,ada,
o7,d,m3,e1,,,media,animal,Lynx lynx,1,,,,,,,,human,ada,
"""


def test_camtrap_dp(tmp_path: Path) -> None:
    """Boxes, counts and what observers saw; a box that is none is a problem."""
    media = "mediaID,deploymentID,timestamp,filePath\n" + "".join(
        f"m{n},d,,{n}.jpg\n" for n in (1, 2, 3)
    )
    resources = [{"name": name, "path": f"{name}.csv"} for name in ("media", "observations")]
    package = {"profile": "camtrap-dp", "resources": resources}
    files = {"media.csv": media, "observations.csv": OBSERVATIONS, "datapackage.json": package}
    found = read(lay(tmp_path / "p", files), "camtrap-dp")
    fox, animal, person, blank, badgers, lynx = found.labels
    assert (fox.names, pixels(fox), fox.count, fox.who) == (("Vulpes vulpes",), FOX, 1, "ada")
    assert dict(fox.fields) == {"sex": "female", "lifeStage": "adult", "behavior": "foraging"}
    assert (animal.is_box_alone, animal.category, animal.score) == (True, "animal", 0.91)
    assert (person.category, person.score) == ("person", 0.66)
    assert (blank.is_empty, blank.is_machine) == (True, False)
    assert (badgers.count, badgers.part) == (3, WHOLE_FILE)
    assert (lynx.names, lynx.part) == (("Lynx lynx",), FilePart(thing=2))
    assert found.problems[0].startswith("observation 6: this is not a bounding box")


def test_createml_and_via(tmp_path: Path) -> None:
    """Neither writes sizes: they are of the images beside them."""
    create_ml = [
        {
            "image": "a.jpg",
            "annotations": [
                {"label": "fox", "coordinates": {"x": 224, "y": 168, "width": 320, "height": 240}}
            ],
        },
    ]
    folder = lay(tmp_path / "create", {"a.jpg": "", "_annotations.createml.json": create_ml})
    assert shown(read(folder, "createml")) == [("a.jpg", ("fox",), FOX)]
    rectangle = {"name": "rect", "x": 64, "y": 48, "width": 320, "height": 240}
    polygon = {"name": "polygon", "all_points_x": [64, 384, 200], "all_points_y": [48, 48, 288]}
    regions = [
        {"shape_attributes": rectangle, "region_attributes": {"species": "fox"}},
        {"shape_attributes": polygon, "region_attributes": {"species": {"badger": True}}},
        {
            "shape_attributes": {"name": "point", "cx": 1, "cy": 1},
            "region_attributes": {"species": "fox"},
        },
    ]
    project = {
        "_via_img_metadata": {
            "a.jpg12": {"filename": "a.jpg", "size": 12, "regions": regions, "file_attributes": {}}
        }
    }
    found = read(lay(tmp_path / "via", {"a.jpg": "", "project.json": project}), "via")
    assert shown(found) == [("a.jpg", ("fox",), FOX), ("a.jpg", ("badger",), FOX)]
    assert len(found.problems) == 1


@pytest.mark.parametrize(
    "text",
    [
        (
            "filename,width,height,class,xmin,ymin,xmax,ymax\na.jpg,640,480,fox,64,48,384,288\n"
            "a.jpg,640,480,fox,9,9,9,9\n"
        ),
        (
            "ImageID,Source,LabelName,Confidence,XMin,XMax,YMin,YMax\na.jpg,x,fox,1,0.1,0.6,0.1,"
            "0.6\na.jpg,x,fox,1,nan,1,0,1\n"
        ),
        "image,x1,y1,x2,y2,label\na.jpg,64,48,384,288,fox\na.jpg,900,48,990,288,fox\n",
    ],
)
def test_tables_with_corners(tmp_path: Path, text: str) -> None:
    """In pixels with the size in the table or in the image's file, or in shares."""
    found = read(lay(tmp_path, {"a.jpg": "", "boxes.csv": text}) / "boxes.csv", "csv")
    assert shown(found) == [("a.jpg", ("fox",), FOX)]
    assert len(found.problems) == 1


# -- bad boxes


@pytest.mark.parametrize(
    "box",
    [
        [700, 10, 50, 50],
        [-90, 10, 50, 50],
        [10, 10, -5, 5],
        [10, 10, 0, 5],
        [float("nan"), 1, 2, 3],
        [1, 2, float("inf"), 3],
        [1, 2, 3],
        ["a", 2, 3, 4],
        [1, 2, 3, None],
    ],
)
def test_a_box_that_is_none(tmp_path: Path, box: list[Any]) -> None:
    """One clear line, and the others are read."""
    whole = coco(
        [{"category_id": 1, "bbox": box}, {"category_id": 1, "bbox": list(FOX)}], ("fox", "badger")
    )
    found = read(lay(tmp_path, {"a.json": whole}) / "a.json", "coco")
    assert [pixels(label) for label in found.labels] == [FOX]
    assert len(found.problems) == 1
    assert found.problems[0].startswith("annotation 1: ")


def test_a_box_that_reaches_beyond_the_picture_is_cut_off(tmp_path: Path) -> None:
    whole = coco([{"category_id": 1, "bbox": [-10, 400, 50, 100]}], ("fox", "badger"))
    (label,) = read(lay(tmp_path, {"a.json": whole}) / "a.json", "coco").labels
    assert pixels(label) == (0, 400, 40, 80)


@pytest.mark.parametrize(
    ("form", "good", "broken", "beside"),
    [
        ("pascal-voc", VOC, VOC[:-40], ".xml"),
        ("labelme", json.dumps(LABELME), json.dumps(LABELME)[:-9], ".json"),
        ("yolo-detection", "0 0.5 0.5 0.1 0.1\n", "0 0.5 0.5 0.1 0.1\n\x00\x01\ufffe", ".txt"),
    ],
)
def test_a_damaged_file_does_not_hide_the_others(
    tmp_path: Path, form: str, good: str, broken: str, beside: str
) -> None:
    """In a folder it is one line; by itself it is an error."""
    files = {f"a{beside}": good, f"b{beside}": broken, "b.jpg": "", "classes.txt": "fox"}
    folder = lay(tmp_path / "set", files)
    found = read(folder, form)
    assert found.labels
    assert [line for line in found.problems if line.startswith(f"b{beside}: ")]
    with pytest.raises(FormatError):
        read_labels(folder / f"b{beside}", form)


def test_more_boxes_than_anybody_can_review(tmp_path: Path) -> None:
    """The first thousand of the image are read, and one line tells."""
    boxes = [
        {"category": "1", "conf": 0.5, "bbox": [n / 20_000, 0.1, 0.2, 0.2]}
        for n in range(MOST_BOXES + 500)
    ]
    results = {
        "images": [{"file": "a.jpg", "detections": boxes}],
        "detection_categories": {"1": "animal"},
    }
    found = read(lay(tmp_path, {"a.json": results}) / "a.json", "megadetector")
    assert len(found.labels) == MOST_BOXES
    assert found.problems == ("a.jpg has 1,500 boxes: only the first 1,000 are read",)
