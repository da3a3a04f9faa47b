"""Tables and class folders, read by data science libraries."""

import csv
import json
import shutil
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.readers.readings import Facts, Found, everything, of_a_class, reads


def _found(rows: list[dict[str, Any]]) -> Found:
    return {
        Path(str(row["image"])).name: {
            "class": None
            if row["class"] == "unknown" and not row["path"]
            else row["class"] or None,
            "path": row["path"] or None,
            "by": row["decided_by"] or None,
            "who": row["labelled_by"] or None,
            "when": _when(row["labelled_at"]),
            "score": row["score"],
        }
        for row in rows
    }


def _when(value: Any) -> str | None:
    if not value:
        return None
    when = datetime.fromisoformat(value) if isinstance(value, str) else value
    return when.astimezone(UTC).isoformat()


def _plain(frame: Any) -> list[dict[str, Any]]:
    """Rows of a pandas table with None for missing values."""
    rows = frame.astype(object).where(frame.notna(), None).to_dict("records")
    return list(rows)


@reads("csv", "csv.csv", "pandas")
def csv_by_pandas(path: Path) -> Found:
    import pandas as pd

    return _found(_plain(pd.read_csv(path)))


@reads("csv", "csv.csv", "polars")
def csv_by_polars(path: Path) -> Found:
    import polars as pl

    return _found(pl.read_csv(path, try_parse_dates=False).to_dicts())


@reads("csv", "csv.csv", "duckdb")
def csv_by_duckdb(path: Path) -> Found:
    return _found(_by_duckdb("read_csv", path))


@reads("jsonl", "jsonl.jsonl", "pandas")
def json_lines_by_pandas(path: Path) -> Found:
    import pandas as pd

    return _found(_plain(pd.read_json(path, lines=True, convert_dates=False, precise_float=True)))


@reads("jsonl", "jsonl.jsonl", "duckdb")
def json_lines_by_duckdb(path: Path) -> Found:
    return _found(_by_duckdb("read_json", path))


@reads("parquet", "parquet.parquet", "pyarrow")
def parquet_by_pyarrow(path: Path) -> Found:
    import pyarrow.parquet as pq

    return _found(pq.read_table(path).to_pylist())


@reads("parquet", "parquet.parquet", "pandas")
def parquet_by_pandas(path: Path) -> Found:
    import pandas as pd

    return _found(_plain(pd.read_parquet(path)))


@reads("parquet", "parquet.parquet", "polars")
def parquet_by_polars(path: Path) -> Found:
    import polars as pl

    return _found(pl.read_parquet(path).to_dicts())


@reads("parquet", "parquet.parquet", "duckdb")
def parquet_by_duckdb(path: Path) -> Found:
    return _found(_by_duckdb("read_parquet", path))


def _by_duckdb(function: str, path: Path) -> list[dict[str, Any]]:
    import duckdb

    relation = duckdb.sql(
        f"SELECT * FROM {function}({json.dumps(str(path)).replace(chr(34), chr(39))})"  # noqa: S608
    )
    return [dict(zip(relation.columns, row, strict=True)) for row in relation.fetchall()]


@reads("folders --flat", "folders-flat", "torchvision", of=of_a_class)
def flat_folders_by_torchvision(path: Path) -> Found:
    return _image_folder(path, "flat", _names(path))


@reads(
    "folders --flat", "folders-flat", "datumaro (imagenet)", of=of_a_class, version_of="datumaro"
)
def flat_folders_by_datumaro(path: Path) -> Found:
    return _by_datumaro(path, _names(path))


@reads("yolo", "yolo", "torchvision (train and val)", of=of_a_class, version_of="torchvision")
def yolo_by_torchvision(path: Path) -> Found:
    names = _names(path)
    return _image_folder(path / "train", "flat", names) | _image_folder(path / "val", "flat", names)


@reads("yolo", "yolo", "datumaro (imagenet, train and val)", of=of_a_class, version_of="datumaro")
def yolo_by_datumaro(path: Path) -> Found:
    names = _names(path)
    return _by_datumaro(path / "train", names) | _by_datumaro(path / "val", names)


@reads("huggingface", "huggingface", "datasets", of=everything)
def hugging_face_by_datasets(path: Path) -> Found:
    import datasets

    with tempfile.TemporaryDirectory() as cache:
        data = datasets.load_dataset(str(path), split="train", cache_dir=cache)
        names = data.features["label"]
        return {
            Path(row["original_path"]).name: {
                "label": None if row["label"] is None else names.int2str(row["label"]),
                "paths": row["all_paths"],
                "by": row["decided_by"],
                "who": row["labelled_by"],
                "when": _when(row["labelled_at"]),
                "score": row["score"],
            }
            for row in data
            if row["image"].size
        }


def _image_folder(path: Path, fact: str, names: dict[str, str]) -> dict[str, Facts]:
    from torchvision.datasets import ImageFolder

    folder = ImageFolder(str(path), allow_empty=True)
    return {
        names[Path(file).name]: {fact: folder.classes[target]} for file, target in folder.samples
    }


def _by_datumaro(path: Path, names: dict[str, str]) -> dict[str, Facts]:
    """Images only: datumaro supports no folder with tables or images without class."""
    import datumaro
    from datumaro.components.annotation import AnnotationType

    with tempfile.TemporaryDirectory() as made:
        for file in path.rglob("*.png"):
            copy = Path(made) / file.relative_to(path)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, copy)
        data = datumaro.Dataset.import_from(made, "imagenet")
        labels = data.categories()[AnnotationType.label]
        return {
            names[Path(item.media.path).name]: {"flat": labels[item.annotations[0].label].name}
            for item in data
        }


def _names(path: Path) -> dict[str, str]:
    """Names of files in the collection, by the table in the folder."""
    with (path / "images.csv").open(encoding="utf-8", newline="") as file:
        return {
            Path(row["placed"]).name: Path(row["image"]).name
            for row in csv.DictReader(file)
            if row["placed"]
        }
