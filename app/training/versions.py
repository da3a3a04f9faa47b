"""What training asks of the project; every function here runs on the project thread."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from app.training.logic import Evidence, Figures, StartingPoint, Trained, VersionRow
from engine.errors import Cancelled

if TYPE_CHECKING:
    from engine.collection.live import LiveCollection
    from engine.project.records import ModelVersion


def version_rows(live: LiveCollection) -> tuple[VersionRow, ...]:
    """All model versions of a project, the newest first."""
    used = live.project.models.current.version_id
    rows = [_row(version, is_used=version.version_id == used) for version in live.project.models.versions()]
    return tuple(reversed(rows))


def evidence(live: LiveCollection) -> Evidence:
    """How the model in use does on images that it did not learn from, and what trainings before brought."""
    from engine.collection.what_if.held_out import held_out_answers

    rows = version_rows(live)
    trained_on = max((row.trained_on for row in rows if row.is_used or row.is_no_better), default=0)
    answers = None if live.fitted is None else held_out_answers(live.fitted, live.project.classes.graph)
    accuracy = None if answers is None or not len(answers.is_right) else float(answers.is_right.mean())
    return Evidence(trained_on, accuracy)


def _row(version: ModelVersion, *, is_used: bool) -> VersionRow:
    figures = Figures.of_named(version.figures)
    is_measured = figures.before is not None and figures.after is not None
    goes_on = version.settings.get("start") != StartingPoint.CONV4
    return VersionRow(
        version.version_id, version.label, version.created_at, figures.after, is_used,
        int(version.figures.get("labelled_images") or 0), goes_on and is_measured and not figures.is_better,
    )  # fmt: skip


def store_trained(live: LiveCollection, trained: Trained, project_path: Path) -> Trained:
    """Put a trained model into the project that it was trained for; its folder is not needed after that.

    Returns:
        the same with its id, and with the name that it got in the project.

    Raises:
        Cancelled: another project is open by now.
    """
    from engine.collection.training.trained import adopt, read_trained

    try:
        if live.project.path != project_path:
            raise Cancelled
        version_id = adopt(live.project, read_trained(trained.folder))
    finally:
        shutil.rmtree(trained.folder, ignore_errors=True)
    name = next(row.name for row in version_rows(live) if row.version_id == version_id)
    return replace(trained, version_id=version_id, name=name)
