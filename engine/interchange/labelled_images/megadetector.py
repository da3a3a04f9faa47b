"""Reader of results of MegaDetector and SpeciesNet (predictions.json): boxes, categories, scores.

Boxes are not labels, and answers of a classifier for a box or a whole image are predictions.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from engine.errors import FormatError
from engine.file_parts import BoundingBox, FilePart
from engine.interchange.labelled_images.box_formats import MEGADETECTOR, files_of
from engine.interchange.labelled_images.class_labels import detected_box
from engine.interchange.labelled_images.foreign_boxes import numbers, relative_image, scored
from engine.interchange.labelled_images.foreign_labels import (
    ForeignLabel,
    ForeignLabels,
    LabelCollector,
    problem_at,
)
from engine.interchange.labelled_images.table_rows import EMPTY_NAMES
from engine.interchange.text_file import JsonObject, object_in, objects_in, read_json
from engine.texts import Message, marked

_CATEGORIES = {"1": "animal", "2": "person", "3": "vehicle"}  # by default
_NOT_READ = marked("the detector could not read it: {failure}")
_NO_ANSWER = "no cv result"
_GENUS = 3  # index among class, order, family, genus and species


def read(source: Path) -> ForeignLabels:
    """Read the boxes of a file of results, or of those in a folder."""
    collector = LabelCollector()
    for file in list(files_of(source, MEGADETECTOR)) or [source]:
        with collector.file_of(source, file):
            _read_file(file, collector)
    return collector.collected()


def _read_file(file: Path, collector: LabelCollector) -> None:
    whole = read_json(file)
    if isinstance(whole, dict) and isinstance(whole.get("images"), list):
        _read_results(whole, file.parent, collector)
    elif isinstance(whole, dict) and isinstance(whole.get("predictions"), list):
        _read_predictions(whole, file.parent, collector)
    else:
        raise FormatError(
            "{source} contains no detector results",
            expected='an object with "images" (MegaDetector) or "predictions" (SpeciesNet)',
            source=file.name,
        )


def _read_results(whole: JsonObject, folder: Path, collector: LabelCollector) -> None:
    categories = object_in(whole, "detection_categories") or _CATEGORIES
    classes = object_in(whole, "classification_categories")
    for entry in objects_in(whole, "images"):
        image = str(entry.get("file") or "")
        if failure := entry.get("failure"):
            collector.problems.append(
                problem_at(image, Message(_NOT_READ, {"failure": str(failure)[:80]}))
            )
            continue
        detections = objects_in(entry, "detections")
        collector.unlabelled += not detections
        for detection in detections:
            collector.add(image, _detected(detection, entry, folder, categories, classes))


def _read_predictions(whole: JsonObject, folder: Path, collector: LabelCollector) -> None:
    for entry in objects_in(whole, "predictions"):
        image = str(entry.get("filepath") or "")
        if isinstance(failures := entry.get("failures"), list) and "DETECTOR" in failures:
            failed = Message(_NOT_READ, {"failure": ", ".join(map(str, failures))[:80]})
            collector.problems.append(problem_at(image, failed))
        for detection in objects_in(entry, "detections"):
            called = detection.get("label") or _category(detection, _CATEGORIES)
            names = {str(detection.get("category")): called}
            collector.add(image, _detected(detection, entry, folder, names, {}))
        collector.add(image, _predicted(entry, image, folder))


def _detected(
    detection: JsonObject,
    entry: JsonObject,
    folder: Path,
    categories: Mapping[str, Any],
    classes: Mapping[str, Any],
) -> Iterator[ForeignLabel]:
    image = str(entry.get("file") or entry.get("filepath") or "")
    corners = detection.get("bbox")
    box = BoundingBox.of(*numbers(corners if isinstance(corners, list) else [], 4))
    part = FilePart(seconds=_seconds(detection, entry), box=box)
    found = detected_box(
        image,
        part,
        file=relative_image(folder, image),
        category=_category(detection, categories),
        score=scored(detection.get("conf")),
    )
    ranked = detection.get("classifications")
    best = ranked[0] if isinstance(ranked, list) and ranked else None
    name = classes.get(str(best[0])) if isinstance(best, list) and best else None
    yield found if name is None else replace(found, names=(str(name),))


def _category(detection: Mapping[str, Any], categories: Mapping[str, Any]) -> str:
    number = str(detection.get("category"))
    return str(categories.get(number, number))


def _seconds(detection: Mapping[str, Any], entry: Mapping[str, Any]) -> float | None:
    """The time of a detection in a video, in seconds."""
    frame, rate = detection.get("frame_number"), entry.get("frame_rate")
    if not isinstance(frame, int) or not isinstance(rate, int | float) or rate <= 0:
        return None
    return frame / rate


def _predicted(entry: JsonObject, image: str, folder: Path) -> Iterator[ForeignLabel | None]:
    """The prediction of an image, `id;mammalia;carnivora;canidae;vulpes;vulpes;red fox`."""
    _, *ranks, common = [each.strip() for each in str(entry.get("prediction") or ";").split(";")]
    names = [each for each in ranks if each]
    if len(names) > _GENUS + 1:
        names[-1] = f"{names[_GENUS]} {names[-1]}"
    names = names or [common]
    if names in ([""], [_NO_ANSWER]):
        yield None
        return
    yield ForeignLabel(
        image,
        tuple(names),
        (common,) if common else (),
        may_be_none=common in EMPTY_NAMES,
        file=relative_image(folder, image),
        is_machine=True,
        is_empty=common in EMPTY_NAMES,
    )
