"""Hugging Face: an image folder that `datasets` loads, with a dataset card.

The images are in `train`, the only split, with `metadata.parquet`: a row for each image with its
label and the columns of the CSV table. The label is a ClassLabel, whose names are in the table's
schema, which `datasets` reads, and in the dataset card README.md.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from engine.errors import FormatError
from engine.interchange.labelled_images import csv_table, json_lines, parquet
from engine.interchange.labelled_images.class_folders import (
    FolderOptions,
    file_in,
    nested_folders,
    place_all,
)
from engine.interchange.labelled_images.class_labels import ClassLabels
from engine.interchange.labelled_images.foreign_labels import ForeignLabels
from engine.interchange.labelled_images.records import LabelledImages, WrittenExport
from engine.interchange.labelled_images.table_rows import COLUMNS, KINDS, ORIGINAL, Row, row_of

CANNOT_CARRY = (
    "the hierarchy is flattened; full paths are kept in a column",
    "a picture with several boxes has a row for each, which a loader reads as separate images",
)
SPLIT = "train"
CARD = "README.md"
METADATA = "metadata.parquet"
_READERS: "dict[str, tuple[Callable[[Path], bool], Callable[[Path], ForeignLabels]]]" = {
    METADATA: (parquet.fits, parquet.read),
    "metadata.jsonl": (json_lines.fits, json_lines.read),
    "metadata.csv": (csv_table.fits, csv_table.read),
}
_LEFT_OUT = frozenset({"image", "file"})
"""`image` is the picture here; local paths of files are private."""
_TEXTS = (ORIGINAL, *(name for name in COLUMNS if name not in _LEFT_OUT))
_CARD_START = """---
pretty_name: {title}
task_categories:
- image-classification
configs:
- config_name: default
  data_files:
  - split: {split}
    path: "{split}/**"
dataset_info:
  features:
  - name: image
    dtype: image
  - name: label
    dtype:
      class_label:
        names:"""
_DTYPES = {
    "float": "float32",
    "whole": "int32",
    "flag": "bool",
    "time": "timestamp[us, tz=UTC]",
}


def write(images: LabelledImages, draft: Path, options: FolderOptions) -> WrittenExport:
    """Place all images, with and without a class, and write the table and the card."""
    labels = ClassLabels(images)
    written, placed = place_all(images, draft, SPLIT, nested_folders(images), options)
    with file_in(draft / SPLIT, METADATA) as file:
        parquet.write_rows(file, _schema(labels), _rows(images, labels, placed))
    with file_in(draft, CARD) as file:
        file.write("\n".join((*_front_matter(images, labels), *_text(images, labels), "")).encode())
    return written


def read(source: Path) -> ForeignLabels:
    """Read the tables of all splits: Parquet, JSON lines or CSV."""
    found = [reader(table) for table, reader in _tables(source)]
    if not found:
        raise FormatError(
            "{source} has no rows of labels",
            expected="{metadata}, .jsonl or .csv in it or its splits",
            source=source.name,
            metadata=METADATA,
        )
    labels = tuple(label for each in found for label in each.labels)
    problems = tuple(problem for each in found for problem in each.problems)
    return ForeignLabels(labels, sum(each.unlabelled for each in found), problems)


def fits(source: Path) -> bool:
    """Whether it is a folder with a table of labels in it or its splits."""
    return next(_tables(source), None) is not None


def _tables(source: Path) -> Iterator[tuple[Path, Callable[[Path], ForeignLabels]]]:
    if not source.is_dir():
        return
    folders = [
        source,
        *sorted(
            each for each in source.iterdir() if each.is_dir() and not each.name.startswith(".")
        ),
    ]
    for folder in folders:
        for name, (fits_it, reader) in _READERS.items():
            if fits_it(folder / name):
                yield folder / name, reader


def _rows(images: LabelledImages, labels: ClassLabels, placed: dict[int, str]) -> Iterator[Row]:
    numbers = {label: number for number, label in enumerate(labels.all_labels)}
    for image in images.images:
        if image.image_id in placed:
            label = labels.of(image)
            yield {
                **row_of(images, image),
                "file_name": placed[image.image_id].removeprefix(f"{SPLIT}/"),
                "label": None if label is None else numbers[label],
                ORIGINAL: image.path,
            }


def _schema(labels: ClassLabels) -> Any:
    """Types of the columns, with the features of `datasets` as metadata."""
    import pyarrow as pa

    features: dict[str, Any] = {
        "file_name": {"dtype": "string", "_type": "Value"},
        "label": {"names": list(labels.all_labels), "_type": "ClassLabel"},
    }
    for name in _TEXTS:
        feature = {"dtype": _DTYPES.get(KINDS.get(name, ""), "string"), "_type": "Value"}
        features[name] = (
            {"feature": feature, "_type": "Sequence"} if KINDS.get(name) == "texts" else feature
        )
    first = [pa.field("file_name", pa.string()), pa.field("label", pa.int64())]
    metadata = json.dumps({"info": {"features": features}})
    return pa.schema([*first, *parquet.schema_of(_TEXTS)], metadata={"huggingface": metadata})


def _front_matter(images: LabelledImages, labels: ClassLabels) -> Iterator[str]:
    """YAML header of the card, for `datasets` and the hub; texts are JSON, a subset of YAML."""
    yield _CARD_START.format(title=json.dumps(images.title), split=SPLIT)
    yield from (
        f"          '{number}': {json.dumps(label)}"
        for number, label in enumerate(labels.all_labels)
    )
    for name in _TEXTS:
        kind = KINDS.get(name, "")
        yield f"  - name: {name}"
        yield (
            "    sequence: string"
            if kind == "texts"
            else f"    dtype: {_DTYPES.get(kind, 'string')}"
        )
    yield "---"


def _text(images: LabelledImages, labels: ClassLabels) -> Iterator[str]:
    people = Counter(image.class_id for image in images.images if image.is_verified)
    everyone = Counter(image.class_id for image in images.images)
    by_model = f", others by the model {images.model}" if images.model else ""
    yield from ("", f"# {images.title}", "")
    yield f"{len(images.images):,} images, {people.total():,} labelled by people{by_model}."
    yield (
        f"Made by {images.program} on {images.made_at:%Y-%m-%d}; "
        "`decided_by` tells who says so of each image."
    )
    yield from ("", "| label | paths | images | labelled by people |", "|---|---|---:|---:|")
    for class_id in labels.classes:
        paths = ", ".join(images.path_texts(class_id))
        cells = _cell(labels.of_class(class_id)), _cell(paths), everyone[class_id], people[class_id]
        yield "| " + " | ".join(map(str, cells)) + " |"


def _cell(text: str) -> str:
    return text.replace("\\", "\\\\").replace("|", "\\|")
