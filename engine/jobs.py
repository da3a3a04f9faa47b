"""The worker: this program as a child process for heavy work, and its request handlers."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, final

from engine.backbones import messages
from engine.bundle.opened import TryBundle
from engine.collection.object_detection import FindInProject, ThingsFound
from engine.config import CacheFolders
from engine.detection.messages import DetectorFacts, ExamineDetector
from engine.embedding.messages import (
    EmbedBatch,
    EmbedImages,
    EmbedSummary,
    MeasuredRates,
    MeasureRates,
    PhotoRate,
)
from engine.embedding.photo_messages import IsReady, PhotosRead, ReadPhotos, Ready
from engine.errors import ModelError
from engine.events import CancelToken, OnProgress, Progress, TimeLeft
from engine.images.details_messages import DetailsSummary, ReadDetails
from engine.map.make import MadeMap, MakeMap
from engine.requests import EstimateTraining, PrepareChange, Train, TrainingResult
from engine.runtime.devices.child import Speed, TryDevice
from engine.runtime.providers import DeviceList, ListDevices
from engine.texts import Message
from engine.worker.limits import Limits, apply_limits, ends_with_parent
from engine.worker.serve import Handlers, Send, serve_standard_streams

if TYPE_CHECKING:
    from engine.backbones.messages import OnnxFacts, Trial
    from engine.backbones.model_files import ModelFiles
    from engine.bundle.opened import BundleTrial
    from engine.collection.backbone_change import PreparedChange
    from engine.embedding.cache import EmbeddingCache
    from engine.embedding.photo_caches import PreviewCaches
    from engine.embedding.reader_process import PhotoReader
    from engine.embedding.readers import Readers
    from engine.runtime.backbone import BackboneSession
    from engine.training.curve import TrainingDuration

ROWS_AT_ONCE = 1_000
_NO_MEMORY = (
    "bad_alloc",
    "bad allocation",
    "failed to allocate",
    "out of memory",
)  # words of ONNX Runtime
SURVEY_LIMIT_S = 60.0
"""For all devices; longer than in `doctor`: it runs in the background, and cold CUDA is slow."""


def _probe(request: TryDevice, send: Send, cancel: CancelToken) -> Speed:
    from engine.doctor import speed_of
    from engine.runtime.devices.child import try_device

    with ends_with_parent(cancel, request.end_s):
        attempt = try_device(request.device)
        send(attempt)
        is_measured = attempt.works and request.measure_s > 0
        return Speed(asdict(speed_of(request.device, request.measure_s)) if is_measured else {})


def _list_devices(_request: ListDevices, _send: Send, cancel: CancelToken) -> DeviceList:
    from engine.doctor import survey_devices

    survey = survey_devices(limit_s=SURVEY_LIMIT_S)
    cancel.raise_if_cancelled()
    return DeviceList(survey.reports, survey.chosen.device_name, survey.chosen.reason)


@final
class Embedder:
    """Handles `EmbedImages` requests; backbone and caches stay open between them."""

    def __init__(self) -> None:
        self._opened_for: tuple[object, ...] = ()
        self._session: BackboneSession | None = None
        self._readers: Readers | None = None  # for a device
        self._caches: dict[str, EmbeddingCache] = {}  # of images, and of their views, by identity
        self._previews: PreviewCaches | None = None
        self._time_left = TimeLeft()  # of a run of several requests

    def embed(self, request: EmbedImages, send: Send, cancel: CancelToken) -> EmbedSummary:
        from engine.embedding.pipeline import embed_files
        from engine.embedding.views import views_hash

        session = self._open(request)
        folders, width = CacheFolders(request.cache), request.card.embedding_width
        views = (
            self._cache(folders, views_hash(request.identity), width)
            if request.with_views
            else None
        )
        try:
            summary = embed_files(
                request.images,
                session,
                self._cache(folders, request.identity, width),
                on_progress=self._of_whole_run(request, send),
                cancel=cancel,
                on_batch=send,
                views=views,
                previews=self._previews_of(folders, request.thumbnail_side),
                readers=self._readers,
            )
        finally:
            if session.notice:  # the GPU failed: it may be well again the next time
                self.close()
        return replace(summary, failed=())

    def _of_whole_run(self, request: EmbedImages, send: Callable[[object], None]) -> OnProgress:
        total = request.total or len(request.images)
        if request.done_before == 0:
            self._time_left = TimeLeft()
        time_left = self._time_left

        def send_progress(progress: Progress) -> None:
            done = request.done_before + progress.done
            left_s = time_left.estimate(done, total - done, time.monotonic())
            send(replace(progress, done=done, total=total, seconds_left=left_s))

        return send_progress

    def close(self) -> None:
        for cache in self._caches.values():
            cache.close()
        self._caches.clear()
        if self._previews is not None:
            self._previews.close()
        if self._readers is not None:
            self._readers.close()
        self._session, self._readers, self._previews, self._opened_for = None, None, None, ()

    def _open(self, request: EmbedImages) -> "BackboneSession":
        from engine.embedding.readers import ProcessReaders
        from engine.runtime.backbone import BackboneSession
        from engine.runtime.providers import choose_providers
        from engine.runtime.sessions import usable_cores

        modified_ns = 0
        with suppress(OSError):  # opening it reports the reason
            modified_ns = request.backbone.stat().st_mtime_ns
        wanted = (
            request.backbone,
            request.identity,
            modified_ns,
            request.card,
            request.cache,
            request.device,
        )
        if wanted != self._opened_for or self._session is None:
            self.close()
            self._session = BackboneSession(
                request.backbone, request.card, choose_providers(request.device)
            )
            self._opened_for = wanted
            if self._session.is_on_gpu:
                self._readers = ProcessReaders(usable_cores(), request.card.input_side)
        return self._session

    def _cache(self, folders: CacheFolders, identity: str, width: int) -> "EmbeddingCache":
        from engine.embedding.cache import EmbeddingCache

        if identity not in self._caches:
            self._caches[identity] = EmbeddingCache(folders.embeddings, identity, width)
        return self._caches[identity]

    def _previews_of(self, folders: CacheFolders, side: int) -> "PreviewCaches | None":
        from engine.embedding.photo_caches import PreviewCaches

        if not side:
            return None
        # the window is on another screen
        if self._previews is not None and self._previews.side != side:
            self._previews.close()
            self._previews = None
        self._previews = self._previews or PreviewCaches(folders, side)
        return self._previews


@final
class FileReader:
    """Answers `ReadPhotos` requests."""

    def __init__(self) -> None:
        self._reader: PhotoReader | None = None

    def load(self, _request: Ready, _send: Send, _cancel: CancelToken) -> IsReady:
        from engine.embedding.reader_process import PhotoReader

        self._reader = PhotoReader()
        return IsReady()

    def read(self, request: ReadPhotos, _send: Send, cancel: CancelToken) -> PhotosRead:
        assert self._reader is not None, "it was loaded"
        return self._reader.read(request, cancel)


def _read_details(request: ReadDetails, send: Send, cancel: CancelToken) -> DetailsSummary:
    from engine.images.details_reading import read_all_details

    return read_all_details(
        request.images,
        send,
        total=request.total or len(request.images),
        done_before=request.done_before,
        on_progress=send,
        cancel=cancel,
    )


def measure_rates(request: MeasureRates, _send: Send, cancel: CancelToken) -> MeasuredRates:
    """Measure for about a second how fast backbones are on this computer."""
    from engine.embedding.rates import measure_photo_rate
    from engine.runtime.providers import choose_providers

    device = choose_providers(request.device)
    rates: dict[str, PhotoRate] = {}
    for file, card in request.backbones:
        cancel.raise_if_cancelled()
        with suppress(ModelError):  # its first use reports the reason
            rates[card.name] = measure_photo_rate(file, card, device, request.photos)
    return MeasuredRates(rates)


def _train(request: Train, send: Send, cancel: CancelToken) -> TrainingResult:
    from engine.collection.training.train import train
    from engine.project import Project

    with Project.open(request.project, for_writing=False) as project:
        caches, settings = CacheFolders(request.cache), request.settings
        trained = train(
            project,
            caches,
            request.depth,
            settings,
            out=request.out,
            on_progress=send,
            on_point=send,
            cancel=cancel,
        )
    return TrainingResult(trained.folder, trained.name, trained.figures)


def _estimate_training(
    request: EstimateTraining, _send: Send, _cancel: CancelToken
) -> "TrainingDuration":
    from engine.collection.training.measurement import estimate_duration
    from engine.collection.training.train import PACKAGES
    from engine.project import Project
    from engine.training.needed_packages import check_packages

    check_packages(PACKAGES, Message("training needs"))
    with Project.open(request.project, for_writing=False) as project:
        return estimate_duration(project, CacheFolders(request.cache), request.settings)


def _prepare_change(request: PrepareChange, send: Send, cancel: CancelToken) -> "PreparedChange":
    """Embed a project's images with another backbone; at the end sends the images' news."""
    from engine.collection.backbone_change import prepare_change
    from engine.project import Project

    with Project.open(request.project, for_writing=False) as project:
        caches, device = CacheFolders(request.cache), request.device
        prepared = prepare_change(
            project, caches, request.backbone, device=device, on_progress=send, cancel=cancel
        )
    for start in range(0, len(prepared.news), ROWS_AT_ONCE):
        send(EmbedBatch(prepared.news[start : start + ROWS_AT_ONCE]))
    return replace(prepared, news=())


def _make_map(request: MakeMap, send: Send, cancel: CancelToken) -> MadeMap:
    from engine.map.make import make_map
    from engine.project import Project

    with Project.open(request.project, for_writing=False) as project:
        caches = CacheFolders(request.cache)
        made, placed = make_map(
            project,
            caches,
            is_from_scratch=request.is_from_scratch,
            on_progress=send,
            cancel=cancel,
        )
    return MadeMap(len(made.image_ids), placed)


def _convert_backbone(
    request: messages.ConvertBackbone, send: Send, cancel: CancelToken
) -> messages.AddedBackbone:
    from engine.backbones.bundled import convert_kept
    from engine.backbones.model_files import model_files

    return _added(model_files(convert_kept(request.name, on_progress=send, cancel=cancel)))


def _inspect_file(request: messages.InspectFile, _send: Send, cancel: CancelToken) -> "OnnxFacts":
    from engine.backbones.trial import inspect

    return inspect(request.path, cancel=cancel)


def _try_file(request: messages.TryFile, _send: Send, cancel: CancelToken) -> "Trial":
    from engine.backbones.trial import card_for, chosen_preprocessing, trial_images, try_out

    card = card_for(
        request.path, request.facts, chosen_preprocessing(request.facts, request.preprocessing)
    )
    return try_out(request.path, card, trial_images(request.images), cancel=cancel)


def _add_file(request: messages.AddFile, send: Send, cancel: CancelToken) -> messages.AddedBackbone:
    from engine.backbones.trial import add_file, project_images
    from engine.project import Project

    images: tuple[Path, ...] = ()
    if request.project is not None:
        with Project.open(request.project, for_writing=False) as project:
            images = project_images(project)
    chosen = request.preprocessing
    return _added(
        add_file(
            request.path,
            name=request.name,
            chosen=chosen,
            images=images,
            on_progress=send,
            cancel=cancel,
        ).files
    )


def _examine_file(request: messages.ExamineFile, _send: Send, cancel: CancelToken) -> "OnnxFacts":
    from engine.backbones.onnx_examining import examine

    with _held(request.limits, cancel):
        return examine(request.path, most_bytes=request.limits.file_bytes)


def _examine_detector(request: ExamineDetector, _send: Send, cancel: CancelToken) -> DetectorFacts:
    from engine.detection.examining import examine

    with _held(request.limits, cancel):
        return examine(request)


def _find_in_project(request: FindInProject, send: Send, cancel: CancelToken) -> ThingsFound:
    from engine.collection.object_detection import answer

    return answer(request, send, cancel)


def _run_file(request: messages.RunFile, _send: Send, cancel: CancelToken) -> "Trial":
    from engine.backbones.trial import try_backbone

    with _held(request.limits, cancel):
        return try_backbone(request.path, request.card, request.images)


@contextmanager
def _held(limits: Limits, cancel: CancelToken) -> Iterator[None]:
    """Hold this process to limits while it runs an untrusted file; it ends with its parent."""
    from engine.runtime.onnx_runtime import load_onnxruntime
    from engine.worker.limits import too_much_memory

    load_onnxruntime()  # what it takes itself must not count
    try:
        with ends_with_parent(cancel):
            apply_limits(limits)
            yield
    except (MemoryError, ModelError) as error:
        if isinstance(error, ModelError) and not any(
            sign in error.found.lower() for sign in _NO_MEMORY
        ):
            raise
        raise too_much_memory(limits.memory_bytes) from error


def _try_bundle(request: "TryBundle", _send: Send, cancel: CancelToken) -> "BundleTrial":
    from engine.bundle.opened import classify_a_picture

    with _held(request.limits, cancel):
        return classify_a_picture(request.folder)


def _list_published(
    request: messages.ListPublished, send: Send, cancel: CancelToken
) -> messages.PublishedList:
    from engine.backbones.published.catalogue import list_published

    return messages.PublishedList(
        list_published(CacheFolders(request.cache), on_progress=send, cancel=cancel)
    )


def _add_published(
    request: messages.AddPublished, send: Send, cancel: CancelToken
) -> messages.AddedBackbone:
    from engine.backbones.published.catalogue import find_published
    from engine.backbones.published.networks import add_published
    from engine.backbones.published.route import Route

    caches, route = CacheFolders(request.cache), Route(request.proxy, request.mirror)
    side, keeps = request.input_side, request.keep_weights
    facts = find_published(
        caches, request.source, request.weights, input_side=side, route=route, cancel=cancel
    )
    return _added(
        add_published(
            facts, caches, route=route, keep_weights=keeps, on_progress=send, cancel=cancel
        )
    )


def _added(files: "ModelFiles") -> messages.AddedBackbone:
    return messages.AddedBackbone(files.name, files.backbone_hash, files.card.embedding_width)


def handlers(embedder: Embedder) -> Handlers:
    """The handler of each request, for one process."""
    reader = FileReader()
    return {
        EmbedImages: embedder.embed,
        Ready: reader.load,
        ReadPhotos: reader.read,
        ReadDetails: _read_details,
        MeasureRates: measure_rates,
        Train: _train,
        EstimateTraining: _estimate_training,
        PrepareChange: _prepare_change,
        MakeMap: _make_map,
        messages.ConvertBackbone: _convert_backbone,
        messages.InspectFile: _inspect_file,
        messages.TryFile: _try_file,
        messages.AddFile: _add_file,
        messages.ExamineFile: _examine_file,
        messages.RunFile: _run_file,
        ExamineDetector: _examine_detector,
        FindInProject: _find_in_project,
        messages.ListPublished: _list_published,
        messages.AddPublished: _add_published,
        TryBundle: _try_bundle,
        TryDevice: _probe,
        ListDevices: _list_devices,
    }


def main() -> int:
    """Answer requests until standard input ends."""
    with closing(Embedder()) as embedder:
        return serve_standard_streams(handlers(embedder))


if __name__ == "__main__":
    sys.exit(main())
