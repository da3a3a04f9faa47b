"""FiftyOne with its MongoDB server: reading our data sets, and exporting them again."""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.readers.readings import Found, back_in_protoleaf, by_a_person, is_labelled, reads


@reads("fiftyone", "fiftyone", "fiftyone (data set)", version_of="fiftyone")
def data_set(path: Path) -> Found:
    found = {}
    for sample in _loaded(path):
        label = sample.ground_truth
        original = (
            sample.filepath if label is None else label.original_path
        )  # characters invalid in file names differ
        found[Path(original).name] = _facts(label)
    return found


@reads(
    "coco", "coco.json", "fiftyone (COCODetectionDataset)", of=is_labelled, version_of="fiftyone"
)
def coco(path: Path) -> Found:
    import fiftyone

    data = fiftyone.Dataset.from_dir(
        dataset_type=fiftyone.types.COCODetectionDataset,
        data_path=str(path.parent / "collection" / "photos"),
        labels_path=str(path),
        progress=False,
    )
    found = {}
    for sample in data:
        for label in sample.detections.detections if sample.detections else ():
            assert label.bounding_box == [0, 0, 1, 1]
            found[Path(sample.filepath).name] = _facts(label)
    return found


def _loaded(path: Path) -> Any:
    import fiftyone

    return fiftyone.Dataset.from_dir(
        dataset_dir=str(path),
        dataset_type=fiftyone.types.FiftyOneImageClassificationDataset,
        progress=False,
    )


def _facts(label: Any) -> dict[str, Any]:
    attributes = label.to_dict() if label is not None else {}
    return {
        "label": attributes.get("label"),
        "paths": attributes.get("all_paths", []),
        "by": attributes.get("decided_by"),
        "who": attributes.get("labelled_by"),
        "when": attributes.get("labelled_at"),
        "score": attributes.get("confidence"),
    }


def _comes_back(name: str, **options: Any) -> Callable[[Path], Found]:
    """Our import of FiftyOne's export of our export, of a given type."""

    def read(path: Path) -> Found:
        import fiftyone

        with tempfile.TemporaryDirectory() as folder:
            kind = getattr(fiftyone.types, name)
            _loaded(path).export(export_dir=folder, dataset_type=kind, progress=False, **options)
            return back_in_protoleaf(path.parent, Path(folder))

    return read


for _name, _options in (
    ("FiftyOneDataset", {}),
    (
        "FiftyOneImageClassificationDataset",
        {"include_confidence": True, "include_attributes": True},
    ),
):
    _register = reads(
        "fiftyone",
        "fiftyone",
        f"fiftyone ({_name}) and back",
        of=by_a_person,
        version_of="fiftyone",
    )
    _register(_comes_back(_name, **_options))
