"""What correcting a camera's clock would change, as a person sees it before it is done."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from engine.project import Project
from engine.project.clock_corrections import ClockCorrection, ClockCorrections, ClockSource


@dataclass(frozen=True)
class ClockPreview:
    """How many images get another time, and the times of their first and last one, before and after."""

    images: int = 0
    before: tuple[datetime, datetime] | None = None
    after: tuple[datetime, datetime] | None = None


def preview_correction(project: Project, correction: ClockCorrection) -> ClockPreview:
    """What a correction would change in a project as it is now."""
    return previewed(project.details.clock_sources(), project.clocks.corrections(), correction)


def previewed(
    sources: Sequence[ClockSource], corrections: ClockCorrections, correction: ClockCorrection
) -> ClockPreview:
    """What a correction in addition to others would change."""
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
