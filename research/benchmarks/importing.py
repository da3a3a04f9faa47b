"""Adding a folder to an empty project in the window, compared with the pass without a window."""

import time
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

from engine.collection.models import find_model
from engine.collection.new_project import new_project
from engine.config import THUMBNAIL_SIDES, CacheFolders
from engine.embedding.cache import EmbeddingCache
from engine.embedding.messages import EmbedRequest
from engine.embedding.photo_caches import PreviewCaches
from engine.embedding.pipeline import embed_files
from engine.new_folder import scratch_folder
from engine.runtime.backbone import BackboneSession
from engine.runtime.providers import CPU_CHOICE
from research.benchmarks.photos import KINDS, draw_photos
from research.benchmarks.window_process import report_of
from research.reference import JudgedFigure, judged, shown
from research.window.import_report import FOLDER_VARIABLE, REPORT_VARIABLE

LIMIT_OVER_PASS = 1.4
LIMIT_ESTIMATE = 0.25
LIMIT_OPENED = 1.0
JUDGED_FROM = 0.1
"""Share of the time from which the estimate of the time left is judged: it needs a known speed."""


@dataclass(frozen=True)
class ImportFigures:
    """Waiting times of the user.

    Attributes:
        photos: of the folder.
        rows: seconds from the drop; how often a photo was opened, and the largest error of the time
            left.
    """

    photos: int
    rows: tuple[JudgedFigure, ...]


def measure_import(photos: int, *, backbone: str) -> ImportFigures:
    """Add generated photos of 500 pixels; needs a display or Qt's offscreen platform."""
    with scratch_folder() as folder:
        kind = replace(KINDS["small"], copies=-(-photos // KINDS["small"].pictures))
        drawn = draw_photos(folder / "photos", kind)
        for path in drawn[photos:]:
            path.unlink()
        caches = CacheFolders(folder / "cache")
        project = folder / "empty.protoleaf"
        new_project(project, backbone).close()
        alone = [_without_window(drawn[:photos], folder / "before", backbone)]
        report = report_of(
            ["-m", "research.window", str(project)],
            caches,
            REPORT_VARIABLE,
            {FOLDER_VARIABLE: str(folder / "photos")},
        )
        alone.append(_without_window(drawn[:photos], folder / "after", backbone))
    seconds, opened = report["seconds"], report["opened"]
    rows = [shown(f"until {name}", [seconds[name]]) for name in ("first screen", "first embedding")]
    against = "the same without a window"
    rows += [
        judged(f"until {name}", [seconds[name]], alone, LIMIT_OVER_PASS, against=against)
        for name in ("predictions", "everything")
    ]
    if opened:
        times = sum(number * count for number, count in enumerate(opened, start=1))
        rows.append(
            judged(
                "times a photo was opened",
                [times / photos],
                [1.0],
                LIMIT_OPENED,
                against="one",
                unit="x",
            )
        )
    rows.append(_estimate(report["estimates"], seconds["predictions"]))
    return ImportFigures(photos, tuple(rows))


def _without_window(photos: list[Path], folder: Path, backbone: str) -> float:
    """Seconds of the same pass in this process."""
    model, caches = find_model(backbone), CacheFolders(folder)
    session = BackboneSession(model.backbone, model.card, CPU_CHOICE)
    requests = [EmbedRequest(number, path) for number, path in enumerate(photos)]
    width = model.card.embedding_width
    with (
        EmbeddingCache(caches.embeddings, "00" * 32, width) as images,
        EmbeddingCache(caches.embeddings, "01" * 32, width) as views,
        closing(PreviewCaches(caches, THUMBNAIL_SIDES[0])) as previews,
    ):
        started_s = time.perf_counter()
        embed_files(requests, session, images, views=views, previews=previews)
        return time.perf_counter() - started_s


def _estimate(estimates: list[tuple[float, float]], whole_s: float) -> JudgedFigure:
    """Largest error of the estimated end."""
    worst = max(
        (
            abs(passed + left - whole_s)
            for passed, left in estimates
            if passed > JUDGED_FROM * whole_s
        ),
        default=0.0,
    )
    return judged(
        "error of the time left, at worst",
        [worst],
        [whole_s],
        LIMIT_ESTIMATE,
        against="the whole time",
    )
