"""The worker's verb that gets a change of backbone ready; whoever asked changes the project."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from engine.config import CacheFolders
from engine.events import CancelToken

if TYPE_CHECKING:
    from engine.collection.backbone_change.change import PreparedChange
    from engine.jobs.serve import EventWriter

ROWS_AT_ONCE: Final = 1_000


def change_backbone(job: Mapping[str, Any], events: "EventWriter", cancel: CancelToken) -> Mapping[str, Any]:
    """Embed a project's images with another backbone and measure both; the project is only read.

    Args:
        job: "project" and "cache" are paths; "backbone" is a name or the path of an ONNX file; "device" is "auto",
            "cpu" or "cuda".
        events: gets progress, and at the end batches of what was found out about images that the project does not know.
        cancel: stops between images; what is embedded stays in the cache.

    Returns:
        the fields of `PreparedChange` but for its news, with those of its comparison and that one's interval.
    """
    from engine.collection.backbone_change.change import prepare_change
    from engine.project import Project

    with Project.open(Path(job["project"]), for_writing=False) as project:
        prepared = prepare_change(
            project,
            CacheFolders(Path(job["cache"])),
            str(job["backbone"]),
            device=job.get("device", "auto"),
            on_progress=events.progress,
            cancel=cancel,
        )
    for start in range(0, len(prepared.news), ROWS_AT_ONCE):
        events.batch(prepared.news[start : start + ROWS_AT_ONCE])
    return change_fields(prepared)


def change_fields(prepared: "PreparedChange") -> dict[str, Any]:
    """A prepared change as plain data: for the window, and for `--json`."""
    comparison = prepared.comparison
    return {
        "source": prepared.source,
        "name": prepared.name,
        "backbone_hash": prepared.backbone_hash,
        "before": comparison.before,
        "after": comparison.after,
        "shots": comparison.shots,
        "gained": comparison.gained,
        "lost": comparison.lost,
        "interval": comparison.interval,
        "may_be_chance": comparison.may_be_chance,
        "embedded": prepared.embedded,
        "failed": len(prepared.failed),
        "seconds": prepared.seconds,
    }
