"""The collection exported for readers, and the expected facts.

Run: python -m tests.readers.sample FOLDER
"""

import json
import sys
from pathlib import Path
from typing import Any

from engine.exporting.export import ExportChoice, Which, export_images
from engine.interchange.labelled_images.class_folders import (
    FolderOptions,
    flat_folders,
    nested_folders,
)
from engine.interchange.labelled_images.class_labels import ClassLabels
from engine.interchange.labelled_images.formats import FORMATS
from engine.interchange.labelled_images.records import LabelledImage, LabelledImages, ModelAnswer
from tests.support.labelled_images import Labelled, draw, labelled_project

MORE_IMAGES = 92
"""In addition to the eight of the tests' collection: a hundred in total."""
MODEL = "leafnet"


def write_sample(folder: Path) -> None:
    """Make the collection, export it in every format, and write the expected facts."""
    labelled = grown(labelled_project(folder / "collection"), folder / "collection")
    with labelled.project as project:
        for name, one in FORMATS.items():
            flat = (
                [("flat", FolderOptions(is_flat=True, has_coarse=True))]
                if one.has_flat_form
                else []
            )
            for suffix, options in (("", FolderOptions(has_coarse=True)), *flat):
                out = folder / f"{'-'.join(filter(None, (name, suffix)))}{one.suffix}"
                choice = ExportChoice(name, out, Which.ALL, options)
                export_images(project, labelled.answers, choice, model=MODEL, setting="ppn+")
        facts = expected(labelled.gathered())
    (folder / "expected.json").write_text(json.dumps(facts, indent=1), encoding="utf-8")


def grown(small: Labelled, folder: Path) -> Labelled:
    """The collection with more images: labelled, certain, coarse and without prediction."""
    project, ids = small.project, small.ids
    files = [
        draw(folder / "photos" / f"day {number % 3}" / f"more {number}.png", number)
        for number in range(MORE_IMAGES)
    ]
    added = project.images.add(files).images_added
    answers = dict(small.answers)
    for number, image_id in enumerate(added):
        leaf = ids[("Piano", "Flute", "Organ", "unknown", "Trio: A/B?")[number % 5]]
        score = 0.5 + number / 200
        if number % 4 < 2:
            project.labels.set([image_id], leaf, who=("ada", "grace@example.org")[number % 2])
        if number % 4:
            is_sure = number % 3 > 0
            answers[image_id] = ModelAnswer(
                leaf, score, leaf if is_sure else None, score if is_sure else 0.0, False
            )
    return Labelled(project, ids, small.images, answers)


def expected(images: LabelledImages) -> dict[str, dict[str, Any]]:
    """Expected facts of each image, by file name."""
    labels, nested, flat = (
        ClassLabels(images),
        nested_folders(images),
        flat_folders(images, FolderOptions(has_coarse=True)),
    )
    return {image.file.name: _facts(images, image, labels, nested, flat) for image in images.images}


def _facts(
    images: LabelledImages,
    image: LabelledImage,
    labels: ClassLabels,
    nested: dict[int, str],
    flat: dict[int, str],
) -> dict[str, Any]:
    class_id, label = image.class_id, image.label
    by = "person" if label else "model" if class_id or image.is_of_none else None
    return {
        "label": labels.of(image),
        "class": images.graph.name(class_id) if class_id else None,
        "path": images.path_text(class_id) if class_id else None,
        "paths": list(images.path_texts(class_id)) if class_id else [],
        "nested": nested[class_id] if class_id else None,
        "flat": flat[class_id] if class_id else None,
        "by": by,
        "who": label.who if label else None,
        "when": label.when.isoformat() if label else None,
        "score": image.score,
        "labels": list(images.path_texts(label.class_id))
        if label and label.class_id
        else [labels.of(image)]
        if label
        else [],
    }


if __name__ == "__main__":
    write_sample(Path(sys.argv[1]))
