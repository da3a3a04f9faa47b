"""The worker's verb that tries an ONNX file on a person's images, without keeping anything of it.

{"verb": "try_backbone", "path": "x.onnx", "preprocessing": {"input_side": 224, ...}, "images": [path, ...],
     "facts": {...}}
    result: the fields of `engine.workflows.backbones.onnx_facts.Trial`; "error" says in one line why the file, or
    preprocessing like this, is refused.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.events import CancelToken

if TYPE_CHECKING:
    from engine.cli.worker import EventWriter


def try_backbone(job: Mapping[str, Any], _events: "EventWriter", cancel: CancelToken) -> Mapping[str, Any]:
    """Run a file on some images as it would be run as a backbone.

    Args:
        job: "path" is the file; "preprocessing" holds the fields that the person chose; "images" are paths, to which
            drawn ones are added where they are few; "facts" are what "inspect_backbone" found out, and may be missing.
        cancel: stops at once.

    Returns:
        the fields of `Trial`.
    """
    from engine.workflows.backbones.onnx_facts import facts_from
    from engine.workflows.backbones.onnx_file import card_for, chosen_preprocessing, inspect, try_out
    from engine.workflows.backbones.trial_images import trial_images

    path = Path(job["path"])
    facts = facts_from(job["facts"]) if job.get("facts") else inspect(path, cancel=cancel)
    card = card_for(path, facts, chosen_preprocessing(facts, job.get("preprocessing") or {}))
    with trial_images([Path(image) for image in job.get("images") or ()]) as pictures:
        return try_out(path, card, pictures, cancel=cancel).as_dict()
