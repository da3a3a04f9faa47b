"""Detect objects in the pictures of a project, and add their boxes."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from engine.config import CacheFolders
from engine.detection.category_names import read_names
from engine.detection.detections import THRESHOLD, Detection, DetectionCache
from engine.detection.detector import open_detector
from engine.detection.find_things import find_things
from engine.detection.messages import DetectionSummary, FoundThings, SearchedFile
from engine.events import CancelToken, OnProgress, ignore_progress
from engine.file_parts import MOST_BOXES, FilePart, file_part, is_within_picture, part_content
from engine.files import FileFailure, FoundFile
from engine.images.read_file import file_hash
from engine.project import Change, ImageId, Project
from engine.project.actions import action
from engine.project.records import NewItem
from engine.worker.protocol import Request

# of cached boxes, whatever threshold is used later. Chosen: 1 % below are objects
LEAST_SCORE = 0.05
SAME_BOX = 0.7  # intersection over union with an existing box of the same object. Chosen


@dataclass(frozen=True)
class FoundInProject:
    """Detected boxes.

    Attributes:
        boxes: by picture, the best first, from `LEAST_SCORE` on.
        searched: number of pictures that were not cached.
        summary: of the run; None if all pictures were cached.
        failures: pictures that could not be searched.
    """

    boxes: Mapping[ImageId, Sequence[Detection]]
    searched: int
    summary: DetectionSummary | None
    failures: tuple[FileFailure, ...]

    def count(self, threshold: float) -> tuple[int, int]:
        """Boxes of this score or more, and pictures with one."""
        counts = [sum(each.score >= threshold for each in found) for found in self.boxes.values()]
        return sum(counts), sum(count > 0 for count in counts)


@dataclass(frozen=True)
class ThingsFound:
    """Result of a run in another process; the boxes are in the detection cache.

    Attributes:
        counts: by percent, 0 to 100: boxes with this score or more, and pictures with one.
        pictures: number in the project.
        failure_count: number of pictures that could not be searched.
    """

    counts: tuple[tuple[int, int], ...]
    pictures: int
    failure_count: int
    images_per_s: float


@dataclass(frozen=True)
class FindInProject(Request[ThingsFound]):
    """Request to search all pictures of a project with a detector."""

    project: Path  # read-only
    cache: Path  # root of the caches
    model: Path  # an ONNX file
    device: str = "auto"  # one of `providers.DEVICES`


def answer(request: FindInProject, on_progress: OnProgress, cancel: CancelToken) -> ThingsFound:
    """Search the project of a request; raises as `find_in_project`."""
    with Project.open(request.project, for_writing=False) as project:
        found = find_in_project(
            project,
            CacheFolders(request.cache),
            request.model,
            device=request.device,
            on_progress=on_progress,
            cancel=cancel,
        )
    counts = tuple(found.count(percent / 100) for percent in range(101))
    rate = 0.0 if found.summary is None else found.summary.images_per_s
    return ThingsFound(counts, len(found.boxes), len(found.failures), rate)


def add_known(project: Project, caches: CacheFolders, model: Path, threshold: float) -> Change:
    """Add cached boxes of a project's pictures; see `add_found`."""
    boxes: dict[ImageId, Sequence[Detection]] = {}
    with closing(
        DetectionCache(caches.detections, detections_key(model, names=None, side=0))
    ) as cache:
        for picture, content in _pictures(project):
            known = None if content is None else cache.get(content)
            if known:
                boxes[picture.image_id] = known
    return add_found(project, boxes, threshold, source=model.name)


def detections_key(model: Path, *, names: Path | None, side: int) -> str:
    """Key of a detector and its settings, for the cache."""
    given = () if names is None else read_names(names)
    return hashlib.sha256(file_hash(model) + repr((given, side)).encode()).hexdigest()


def find_in_project(
    project: Project,
    caches: CacheFolders,
    model: Path,
    *,
    names: Path | None = None,
    side: int = 0,
    device: str = "auto",
    on_progress: OnProgress = ignore_progress,
    cancel: CancelToken | None = None,
) -> FoundInProject:
    """Search all pictures of a project: photos, pages and frames. Changes nothing.

    Results are cached: a cancelled run continues, and another threshold needs no run.

    Args:
        model: a detector as an ONNX file.
        names: file of its categories, one a line; by default those in the model.
        side: longest side of pictures if the detector takes any; 0 for the default.

    Raises:
        ModelError: the file is not a detector, or fails.
        Cancelled: `cancel` was set.
    """
    detector = open_detector(
        model,
        device=device,
        threshold=LEAST_SCORE,
        names=names,
        side=side,
        cancel=cancel or CancelToken(),
    )
    boxes: dict[ImageId, Sequence[Detection]] = {}
    failures: list[FileFailure] = []
    key = detections_key(model, names=names, side=side)
    with closing(DetectionCache(caches.detections, key)) as cache:
        waiting = []
        for picture, content in _pictures(project):
            known = None if content is None else cache.get(content)
            if known is None:
                waiting.append(picture)
            else:
                boxes[picture.image_id] = known

        def take(some: list[FoundThings]) -> None:
            read = [each for each in some if not each.failure and each.content_hash is not None]
            cache.put_many((_content(each), each.detections) for each in read)
            boxes.update({each.file.image_id: each.detections for each in read})
            failures.extend(
                FileFailure(each.file.path, each.failure) for each in some if each.failure
            )

        summary = None
        if waiting:
            summary = find_things(
                waiting, detector, take, total=len(waiting), on_progress=on_progress, cancel=cancel
            )
    return FoundInProject(boxes, len(waiting), summary, tuple(failures))


def _pictures(project: Project) -> Iterator[tuple[SearchedFile, bytes | None]]:
    folder = project.path.parent
    for each in project.images.each_content():
        if not is_within_picture(each.part):
            content = (
                None if each.content_hash is None else part_content(each.content_hash, each.part)
            )
            yield SearchedFile(each.image_id, folder / each.path, each.part), content


def _content(found: FoundThings) -> bytes:
    return part_content(found.content_hash or b"", found.file.part)


def add_found(
    project: Project,
    boxes: Mapping[ImageId, Sequence[Detection]],
    threshold: float = THRESHOLD,
    *,
    source: str = "",
) -> Change:
    """Add boxes as images without a label: one action.

    Boxes of known objects are skipped, and no picture gets more than `MOST_BOXES`.

    Args:
        boxes: by picture, the best first.
        threshold: least score.
        source: their origin, for the history.
    """
    items: list[NewItem] = []
    for image_id, found in boxes.items():
        chosen = [each for each in found if each.score >= threshold]
        if chosen:
            items += _new_items(project, image_id, chosen)
    with project.history.one_step() as step:
        change = project.images.add_labelled(items, [None] * len(items), source="detector")
        step.action = action("things_found", boxes=len(change.images_added), source=source)
    return step.change


def _new_items(
    project: Project, image_id: ImageId, found: Sequence[Detection]
) -> Iterator[NewItem]:
    record = project.images.record(image_id)
    file = FoundFile(project.images.resolve(record), record.size_bytes, record.modified_ns)
    picture = file_part(record.part).picture
    parts = [file_part(part) for part in project.images.parts_of(file.path).values()]
    there = [part.box for part in parts if part.box is not None and part.picture == picture]
    for each in found[: max(0, MOST_BOXES - len(there))]:
        if not any(each.box.overlap(box) >= SAME_BOX for box in there):
            part = FilePart(picture.page, picture.seconds, each.box).text
            yield NewItem(file, part, each.category, each.score)
