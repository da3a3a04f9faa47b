"""The worker's verbs for published networks: the window never imports torch, so both run in the child process.

    {"verb": "list_torchvision", "cache": path}
        progress in "networks" the first time (seconds), then
        {"event": "result", "networks": [...]}, each with the fields of `PublishedNetwork` and "source",
        "library_name", "file_size_mb"; nothing is asked from the network.
    {"verb": "add_torchvision", "cache": path, "network": "resnet50", "weights": "IMAGENET1K_V2" or null,
     "proxy": "" or "http://host:port", "keep_weights": false}
        progress in "bytes" while downloading (done, total, rate_per_s, seconds_left), then in "steps" with what is done
        in "note" ("reading the weights", "converting", "comparing with torch", "keeping"), then
        {"event": "result", "name": ..., "path": ..., "licence": ..., ...}, the fields of `added_fields`.

Whoever sends "add_torchvision" has told the person size and licence, which stand in the list, and was told to go on.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.config import CacheFolders
from engine.events import CancelToken

if TYPE_CHECKING:
    from engine.backbones.model_files import ModelFiles
    from engine.backbones.published.facts import PublishedNetwork
    from engine.jobs.serve import EventWriter


def list_torchvision(job: Mapping[str, Any], events: "EventWriter", cancel: CancelToken) -> Mapping[str, Any]:
    """List torchvision's published networks.

    Args:
        job: "cache" is a path.
        events: gets progress when the list must be made.
        cancel: stops between networks.

    Returns:
        the networks.
    """
    from engine.backbones.published.networks import list_published

    networks = list_published(CacheFolders(Path(job["cache"])), on_progress=events.progress, cancel=cancel)
    return {"networks": [network.as_dict() for network in networks]}


def add_torchvision(job: Mapping[str, Any], events: "EventWriter", cancel: CancelToken) -> Mapping[str, Any]:
    """Download a published network, export it and keep it in the library.

    Args:
        job: "cache" is a path; "network" is torchvision's name; "weights", "proxy" and "keep_weights" may be left out.
        events: gets progress.
        cancel: stops the download at once and the export between steps; what was downloaded is kept.

    Returns:
        what was added.
    """
    from engine.backbones.published.networks import add_published, find_published

    caches = CacheFolders(Path(job["cache"]))
    facts = find_published(caches, str(job["network"]), job.get("weights"))
    files = add_published(
        facts,
        caches,
        proxy=str(job.get("proxy") or ""),
        keep_weights=bool(job.get("keep_weights")),
        on_progress=events.progress,
        cancel=cancel,
    )
    return added_fields(facts, files)


def added_fields(facts: "PublishedNetwork", files: "ModelFiles") -> dict[str, Any]:
    """An added network as plain data: for the window, and for `--json`."""
    return {
        "name": files.name,
        "source": facts.source,
        "weights": facts.weights,
        "path": str(files.backbone),
        "backbone_hash": files.backbone_hash,
        "input_side": files.card.input_side,
        "embedding_width": files.card.embedding_width,
        "licence": facts.licence,
        "licence_url": facts.licence_url,
        "figures": dict(files.card.figures),
    }
