"""Preview of a correction of a camera's clock."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from engine.project import Project
from engine.project.clock_corrections import ClockCorrection, ClockCorrections, ClockSource


@dataclass(frozen=True)
class ClockPreview:
    """Number of changed images; times of the first and last one, before and after."""

    images: int = 0
    before: tuple[datetime, datetime] | None = None
    after: tuple[datetime, datetime] | None = None


def preview_correction(project: Project, correction: ClockCorrection) -> ClockPreview:
    """Preview a correction in a project."""
    return preview_of(project.details.clock_sources(), project.clocks.corrections(), correction)


def preview_of(
    sources: Sequence[ClockSource], corrections: ClockCorrections, correction: ClockCorrection
) -> ClockPreview:
    """Preview a correction in addition to others."""
    changed, before, after = 0, list[datetime](), list[datetime]()
    together = corrections.replacing(correction)
    for each in sources:
        where = each.folder, each.camera, each.serial
        if corrections.of(*where) != together.of(*where):
            changed += each.images
            before += [corrections.corrected(when, *where) for when in (each.first, each.last)]
            after += [together.corrected(when, *where) for when in (each.first, each.last)]
    return ClockPreview(changed, _span(before), _span(after))


def _span(times: Sequence[datetime]) -> tuple[datetime, datetime] | None:
    if not times:
        return None
    by_clock = sorted(times, key=lambda when: when.replace(tzinfo=None))
    return by_clock[0], by_clock[-1]
