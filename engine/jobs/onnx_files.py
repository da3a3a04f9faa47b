"""The worker's verbs for the ONNX door.

The window sends one of these lines and gets events as from every job (see `engine.jobs.serve`); "error" carries one
line for the person that says what is wrong with the file.

    {"verb": "inspect_backbone", "path": "x.onnx"}
        result: the fields of `engine.backbones.onnx_files.facts.OnnxFacts`: "name", "size_bytes", "opset",
        "outputs" (each with "name", "width", "pooling", "refused"), "fixed_side", "fixed_batch", "preprocessing" (the
        fields of `Preprocessing`, to fill a form with), "why", "is_told", "width", "notices", ...
    {"verb": "add_backbone", "path": "x.onnx", "name": "", "preprocessing": {"input_side": 224, ...},
     "project": "birds.protoleaf" or null}
        "preprocessing" holds the fields that the person chose, the others are as inspected; with a project the backbone
        is tried on its images. Events "progress" with the step as "note"; result: "name", "backbone_hash", "width",
        "images_per_s", "memory_bytes", "notices".
    {"verb": "examine_backbone", ...}
        what the engine asks its own child, which is held to limits; not for the window.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from engine.errors import ModelError, UsageError
from engine.events import CancelToken
from engine.runtime.onnx_runtime import load_onnxruntime
from engine.worker.parent_watch import ends_with_parent

if TYPE_CHECKING:
    from engine.jobs.serve import EventWriter

_NO_MEMORY: Final = ("bad_alloc", "bad allocation", "failed to allocate", "out of memory")
"""Signs of it in the words of ONNX Runtime."""


def inspect_backbone(job: Mapping[str, Any], _events: "EventWriter", cancel: CancelToken) -> Mapping[str, Any]:
    """Find out whether a file can be a backbone, and what can be known about it.

    Args:
        job: "path" is the file.

    Returns:
        the fields of `OnnxFacts`.
    """
    from engine.backbones.onnx_files.adding import inspect

    return inspect(Path(job["path"]), cancel=cancel).as_dict()


def add_backbone(job: Mapping[str, Any], events: "EventWriter", cancel: CancelToken) -> Mapping[str, Any]:
    """Look at a file, try it on real images, and take it into the library.

    Args:
        job: "path" is the file; "name", "preprocessing" and "project" may be missing, see the module.

    Returns:
        name, hash, and figures of the trial.
    """
    from engine.backbones.onnx_files.adding import add_file
    from engine.backbones.onnx_files.trial_images import project_images
    from engine.project import Project

    images: tuple[Path, ...] = ()
    if job.get("project"):
        with Project.open(Path(job["project"]), for_writing=False) as project:
            images = project_images(project)
    added = add_file(
        Path(job["path"]),
        name=str(job.get("name") or ""),
        chosen=job.get("preprocessing"),
        images=images,
        on_progress=events.progress,
        cancel=cancel,
    )
    return {
        "name": added.files.name,
        "backbone_hash": added.files.backbone_hash,
        "width": added.files.card.embedding_width,
        "images_per_s": added.trial.images_per_s,
        "memory_bytes": added.trial.memory_bytes,
        "notices": list(added.facts.notices),
    }


def examine_backbone(job: Mapping[str, Any], _events: "EventWriter", cancel: CancelToken) -> Mapping[str, Any]:
    """Look at or try a file that nobody vouches for, in this process, held to limits.

    Args:
        job: "what" is "inspect" or "try"; "path", and for a trial "card" and "images"; "limits" by name.

    Returns:
        the fields of `OnnxFacts` or `Trial`.
    """
    from engine.backbones.onnx_files.examining import examine
    from engine.backbones.onnx_files.held_child import too_much_memory
    from engine.backbones.onnx_files.limits import Limits, hold_to
    from engine.backbones.onnx_files.trying import try_backbone

    load_onnxruntime()  # what it takes itself must not count
    limits = Limits(**job["limits"])
    path = Path(job["path"])
    try:
        with ends_with_parent(cancel):
            hold_to(limits)
            if job["what"] == "inspect":
                return examine(path, most_bytes=limits.file_bytes).as_dict()
            if job["what"] == "try":
                return try_backbone(path, _card(job["card"]), [Path(image) for image in job["images"]]).as_dict()
    except (MemoryError, ModelError) as error:
        if isinstance(error, ModelError) and not any(sign in error.found.lower() for sign in _NO_MEMORY):
            raise
        raise too_much_memory(limits.memory_bytes) from error
    raise UsageError("there is no such examination", found=str(job["what"]))


def _card(text: str) -> Any:
    from engine.model_card import card_of

    return card_of(text, source="the card")
