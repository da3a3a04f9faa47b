"""The worker's verb that tries an ONNX file on a person's images, without keeping anything of it.

{"verb": "try_backbone", "path": "x.onnx", "preprocessing": {"input_side": 224, ...}, "images": [path, ...],
     "facts": {...}}
    result: the fields of `engine.backbones.onnx_files.facts.Trial`; "error" says in one line why the file, or
    preprocessing like this, is refused.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.events import CancelToken

if TYPE_CHECKING:
    from engine.jobs.serve import EventWriter


def try_backbone(job: Mapping[str, Any], _events: "EventWriter", cancel: CancelToken) -> Mapping[str, Any]:
    """Run a file on some images as it would be run as a backbone.

    Args:
        job: "path" is the file; "preprocessing" holds the fields that the person chose; "images" are paths, to which
            drawn ones are added where they are few; "facts" are what "inspect_backbone" found out, and may be missing.
        cancel: stops at once.

    Returns:
        the fields of `Trial`.
    """
    from engine.backbones.onnx_files.adding import card_for, chosen_preprocessing, inspect, try_out
    from engine.backbones.onnx_files.facts import facts_from
    from engine.backbones.onnx_files.trial_images import trial_images

    path = Path(job["path"])
    facts = facts_from(job["facts"]) if job.get("facts") else inspect(path, cancel=cancel)
    card = card_for(path, facts, chosen_preprocessing(facts, job.get("preprocessing") or {}))
    with trial_images([Path(image) for image in job.get("images") or ()]) as pictures:
        return try_out(path, card, pictures, cancel=cancel).as_dict()
