"""What a worker does about backbones and exported models: files nobody vouches for, and networks that need torch."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from engine.backbones import messages
from engine.config import CacheFolders
from engine.errors import ModelError
from engine.events import CancelToken
from engine.worker.limits import Limits, hold_to
from engine.worker.parent_watch import ends_with_parent

if TYPE_CHECKING:
    from engine.backbones.model_files import ModelFiles
    from engine.backbones.onnx_files.facts import OnnxFacts, Trial
    from engine.collection.bundle.trying import BundleTrial, TryBundle
    from engine.worker.serve import Send

_NO_MEMORY: Final = ("bad_alloc", "bad allocation", "failed to allocate", "out of memory")
"""Signs of it in the words of ONNX Runtime."""


def convert_backbone(request: messages.ConvertBackbone, send: "Send", cancel: CancelToken) -> messages.AddedBackbone:
    """Make the files of a bundled backbone, once."""
    from engine.backbones.converted.keeping import convert_kept
    from engine.backbones.model_files import model_files

    return _added(model_files(convert_kept(request.name, on_progress=send, cancel=cancel)))


def inspect_file(request: messages.InspectFile, _send: "Send", cancel: CancelToken) -> "OnnxFacts":
    """Find out whether a file can be a backbone, and what can be known about it."""
    from engine.backbones.onnx_files.adding import inspect

    return inspect(request.path, cancel=cancel)


def try_file(request: messages.TryFile, _send: "Send", cancel: CancelToken) -> "Trial":
    """Run a file on some images as it would be run as a backbone."""
    from engine.backbones.onnx_files.adding import card_for, chosen_preprocessing, try_out
    from engine.backbones.trial_images import trial_images

    card = card_for(request.path, request.facts, chosen_preprocessing(request.facts, request.preprocessing))
    return try_out(request.path, card, trial_images(request.images), cancel=cancel)


def add_file(request: messages.AddFile, send: "Send", cancel: CancelToken) -> messages.AddedBackbone:
    """Inspect a file, try it on real images, and take it into the library."""
    from engine.backbones.onnx_files.adding import add_file as run
    from engine.backbones.trial_images import project_images
    from engine.project import Project

    images: tuple[Path, ...] = ()
    if request.project is not None:
        with Project.open(request.project, for_writing=False) as project:
            images = project_images(project)
    chosen = request.preprocessing
    return _added(
        run(request.path, name=request.name, chosen=chosen, images=images, on_progress=send, cancel=cancel).files
    )


def examine_file(request: messages.ExamineFile, _send: "Send", cancel: CancelToken) -> "OnnxFacts":
    """Inspect a file in this process, held to limits."""
    from engine.backbones.onnx_files.examining import examine

    with held(request.limits, cancel):
        return examine(request.path, most_bytes=request.limits.file_bytes)


def run_file(request: messages.RunFile, _send: "Send", cancel: CancelToken) -> "Trial":
    """Run a file on images in this process, held to limits."""
    from engine.backbones.onnx_files.trying import try_backbone

    with held(request.limits, cancel):
        return try_backbone(request.path, request.card, request.images)


@contextmanager
def held(limits: Limits, cancel: CancelToken) -> Iterator[None]:
    """Hold this process to limits while it runs what nobody vouches for; it ends with whoever asked."""
    from engine.backbones.onnx_files.held_child import too_much_memory
    from engine.runtime.onnx_runtime import load_onnxruntime

    load_onnxruntime()  # what it takes itself must not count
    try:
        with ends_with_parent(cancel):
            hold_to(limits)
            yield
    except (MemoryError, ModelError) as error:
        if isinstance(error, ModelError) and not any(sign in error.found.lower() for sign in _NO_MEMORY):
            raise
        raise too_much_memory(limits.memory_bytes) from error


def try_bundle(request: "TryBundle", _send: "Send", cancel: CancelToken) -> "BundleTrial":
    """Classify a picture by an exported model in this process, held to limits."""
    from engine.collection.bundle.trying import classify_a_picture

    with held(request.limits, cancel):
        return classify_a_picture(request.folder)


def list_published(request: messages.ListPublished, send: "Send", cancel: CancelToken) -> messages.PublishedList:
    """List published networks; asks no other computer."""
    from engine.backbones.published.catalogue import list_published as run

    return messages.PublishedList(run(CacheFolders(request.cache), on_progress=send, cancel=cancel))


def add_published(request: messages.AddPublished, send: "Send", cancel: CancelToken) -> messages.AddedBackbone:
    """Download a published network, export it and keep it in the library.

    A cancel stops the download at once and the export between steps; what was downloaded is kept.
    """
    from engine.backbones.published.catalogue import find_published
    from engine.backbones.published.networks import add_published as run
    from engine.backbones.published.route import Route

    caches, route = CacheFolders(request.cache), Route(request.proxy, request.mirror)
    side, keeps = request.input_side, request.keep_weights
    facts = find_published(caches, request.source, request.weights, input_side=side, route=route, cancel=cancel)
    return _added(run(facts, caches, route=route, keep_weights=keeps, on_progress=send, cancel=cancel))


def _added(files: "ModelFiles") -> messages.AddedBackbone:
    return messages.AddedBackbone(files.name, files.backbone_hash, files.card.embedding_width)
