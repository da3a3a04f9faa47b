"""Folders of data sets: YOLO's splits, FiftyOne's labels, Hugging Face's table and card."""

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from engine.collection.importing.label_plan import read_labels
from engine.errors import FormatError, StorageError
from engine.interchange.labelled_images import fiftyone, huggingface, yolo
from engine.interchange.labelled_images.class_folders import FolderOptions
from engine.interchange.labelled_images.formats import detect
from engine.interchange.labelled_images.records import GivenLabel, LabelledImages
from tests.support.labelled_images import Labelled


def out(tmp_path: Path) -> Path:
    folder = tmp_path / "out"
    folder.mkdir()
    return folder


def many(music: Labelled) -> LabelledImages:
    """Twelve images labelled as a piano, two as an organ, one as a flute."""
    images = music.gathered()
    first = images.images[0]
    assert first.label is not None
    classes = ["Piano"] * 12 + ["Organ"] * 2 + ["Flute"]
    return replace(
        images,
        images=[
            replace(
                first,
                image_id=number,
                path=f"{number}.png",
                content_hash=f"{number * 7 % 16:032x}",
                label=GivenLabel(music.ids[name], "ada", first.label.when, "review"),
            )
            for number, name in enumerate(classes, start=1)
        ],
    )


def test_yolo_parts(music: Labelled, tmp_path: Path) -> None:
    """A fifth of each class, one of two; torchvision finds the same classes in both splits."""
    from torchvision.datasets import ImageFolder  # takes seconds, which other tests need not spend

    folder = out(tmp_path)
    yolo.write(many(music), folder, FolderOptions())
    train = ImageFolder(str(folder / "train"))
    validation = ImageFolder(str(folder / "val"), allow_empty=True)
    assert train.class_to_idx == validation.class_to_idx == {"Flute": 0, "Organ": 1, "Piano": 2}
    assert Counter(train.targets) == {0: 1, 1: 1, 2: 10}
    assert Counter(validation.targets) == {1: 1, 2: 2}


def test_the_split_follows_the_content(music: Labelled) -> None:
    """Not the order, nor the images' numbers."""
    images = many(music)
    chosen = {images.images[each - 1].content_hash for each in yolo.validation_ids(images.images)}
    shuffled = replace(
        images,
        images=[replace(each, image_id=99 - each.image_id) for each in reversed(images.images)],
    )
    by_id = {each.image_id: each.content_hash for each in shuffled.images}
    assert {by_id[each] for each in yolo.validation_ids(shuffled.images)} == chosen


def test_yolo_of_others(tmp_path: Path) -> None:
    folder = out(tmp_path)
    for name in ("train/Gull/1.jpg", "val/Gull/2.jpg", "test/Tern/3.jpg", "train/loose.jpg"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(b"")
    assert yolo.fits(folder)
    found = yolo.read(folder)
    assert sorted((label.image, label.names) for label in found.labels) == [
        ("test/Tern/3.jpg", ("Tern",)),
        ("train/Gull/1.jpg", ("Gull",)),
        ("val/Gull/2.jpg", ("Gull",)),
    ]
    assert found.unlabelled == 1


def test_fiftyone_labels(music: Labelled, tmp_path: Path) -> None:
    """Images in `data` have entries by path without suffix; labels have no confidence."""
    folder = out(tmp_path)
    fiftyone.write(music.gathered(), folder, FolderOptions())
    whole = json.loads((folder / "labels.json").read_bytes())
    files = {
        str(path.relative_to(folder / "data").with_suffix(""))
        for path in (folder / "data").rglob("*.png")
    }
    assert files == whole["labels"].keys()
    assert whole["labels"]["Wind/coarse"]["confidence"] == 0.9
    organ = whole["labels"]["Keyboard/Organ/organ"]
    assert (organ["label"], organ["attributes"]["all_paths"]) == (
        "Organ",
        ["Keyboard/Organ", "Wind/Organ"],
    )
    assert "confidence" not in organ
    assert whole["labels"]["no class/unsure"] is None


def test_fiftyone_names_differ_in_more_than_the_suffix(music: Labelled, tmp_path: Path) -> None:
    images = music.gathered()
    first = images.images[0]
    twin = first.file.with_suffix(".jpg")
    twin.write_bytes(first.file.read_bytes())
    both = replace(
        images, images=[first, replace(first, image_id=99, file=twin, path=f"{first.path}.jpg")]
    )
    folder = out(tmp_path)
    fiftyone.write(both, folder, FolderOptions())
    assert json.loads((folder / "labels.json").read_bytes())["labels"].keys() == {
        "Keyboard/Piano/piano",
        "Keyboard/Piano/piano (2)",
    }


def test_fiftyone_of_others(tmp_path: Path) -> None:
    """Numbers of classes, texts, objects, several labels, and none."""
    folder = out(tmp_path)
    (folder / "data").mkdir()
    (folder / "data/b.jpg").write_bytes(b"")
    targets = {"a": 1, "b": "Tern", "c": [{"label": "Gull", "confidence": 0.5}], "d": None, "e": 7}
    (folder / "labels.json").write_text(
        json.dumps({"classes": ["Tern", "Gull"], "labels": targets})
    )
    assert fiftyone.fits(folder)
    found = fiftyone.read(folder)
    assert [(label.names, label.is_machine) for label in found.labels] == [
        (("Gull",), False),
        (("Tern",), False),
        (("Gull",), True),
    ]
    assert (found.labels[1].image, found.labels[1].file) == ("b.jpg", folder / "data/b.jpg")
    assert (found.unlabelled, len(found.problems)) == (1, 1)


def test_fiftyone_without_images(tmp_path: Path) -> None:
    """Its labels alone are a file."""
    (tmp_path / "labels.json").write_text('{"classes": null, "labels": {"day 1/a": "Tern"}}')
    assert detect(tmp_path) == detect(tmp_path / "labels.json") == "fiftyone"
    (label,) = fiftyone.read(tmp_path / "labels.json").labels
    assert (label.image, label.names) == ("day 1/a", ("Tern",))


def test_the_data_set_of_fiftyone(tmp_path: Path) -> None:
    """Labels of all fields of a sample; predictions are a model's, shapes without box problems."""
    gull = {"_cls": "Classification", "label": "Gull", "tags": []}
    box = {"_cls": "Detection", "label": "Tern", "bounding_box": [0.25, 0.5, 0.5, 0.25]}
    samples: list[dict[str, object]] = [
        {
            "filepath": "data/day 1/a.jpg",
            "metadata": {"_cls": "ImageMetadata"},
            "ground_truth": gull,
            "predictions": {"_cls": "Classification", "label": "Tern"},
            "things": {"_cls": "Detections", "detections": [box, {**box, "confidence": 0.5}]},
            "mask": {"_cls": "Segmentation"},
        },
        {"filepath": "/photos/b.jpg", "ground_truth": None},
    ]
    (tmp_path / "samples.json").write_text(json.dumps({"samples": samples}))
    (tmp_path / "metadata.json").write_text('{"predictions": 1, "filepath": 2}')
    assert detect(tmp_path) == "fiftyone"
    found = fiftyone.read(tmp_path / "samples.json")
    assert [(each.names, each.is_machine, each.part.text, each.score) for each in found.labels] == [
        (("Gull",), False, "", None),
        (("Tern",), True, "", None),
        (("Tern",), False, "xywh=percent:25,50,50,25", None),
        (("Tern",), True, "xywh=percent:25,50,50,25", 0.5),
    ]
    assert {(each.image, each.file) for each in found.labels} == {
        ("day 1/a.jpg", tmp_path / "data/day 1/a.jpg")
    }
    assert (found.unlabelled, len(found.problems)) == (1, 1)


def test_tables_of_fiftyone(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "a.jpg").write_bytes(b"")
    (tmp_path / "labels.csv").write_text(
        "filepath,ground_truth.label,ground_truth.confidence\na.jpg,Gull,\nb.jpg,Gull,0.5\n"
    )
    name, found = read_labels(tmp_path)
    assert (name, [each.is_machine for each in found.labels]) == ("csv", [False, True])
    assert found.labels[0].file == tmp_path / "data" / "a.jpg"


def test_hugging_face_rows(music: Labelled, tmp_path: Path) -> None:
    """`file_name` is the image, the label a number with its name in schema and card."""
    folder = out(tmp_path)
    huggingface.write(music.gathered(), folder, FolderOptions())
    table = pq.read_table(folder / "train/metadata.parquet")
    features = json.loads(table.schema.metadata[b"huggingface"])["info"]["features"]
    assert features.keys() == set(table.column_names)
    names = features["label"]["names"]
    rows = {Path(row["original_path"]).name: row for row in table.to_pylist()}
    assert all((folder / "train" / row["file_name"]).is_file() for row in rows.values())
    assert [names[rows[name]["label"]] for name in ("organ.png", "coarse.png", "none.png")] == [
        "Organ",
        "Wind",
        "none of the classes",
    ]
    assert rows["unsure.png"]["label"] is None
    card = (folder / "README.md").read_text(encoding="utf-8")
    assert "          '2': \"Trio: A/B?\"" in card
    assert "| Organ | Keyboard/Organ, Wind/Organ | 1 | 1 |" in card
    assert "file" not in table.column_names


@pytest.mark.parametrize("name", ["metadata.jsonl", "train/metadata.csv"])
def test_hugging_face_of_others(tmp_path: Path, name: str) -> None:
    folder = out(tmp_path)
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(
        '{"file_name": "1.jpg", "label": "Gull"}\n'
        if path.suffix == ".jsonl"
        else "file_name,label\n1.jpg,Gull\n"
    )
    assert huggingface.fits(folder)
    (label,) = huggingface.read(folder).labels
    assert (label.names, label.file) == (("Gull",), path.parent / "1.jpg")


def test_empty_folders(tmp_path: Path) -> None:
    for read in (yolo.read, huggingface.read):
        with pytest.raises(FormatError):
            read(tmp_path)
    with pytest.raises(StorageError):
        fiftyone.read(tmp_path)
