"""Texts about devices, the collection stage and recommendations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from PySide6.QtCore import QLocale

from app.actions.row import ActionRow
from app.computing.logic import CPU, RECOMMENDED_ACTIONS, CollectionFacts, Survey, first_with_reason
from app.texts import plural, tr
from app.wording import number, on_one_line, sentence
from engine.runtime.devices.facts import AUTO, EXPERIMENTAL

if TYPE_CHECKING:
    from engine.collection.recommendations import Recommendation

_SLOW = 10


def device_title(device: str, survey: Survey | None = None) -> str:
    """`NVIDIA H200 (CUDA)`; the kind of device if its name is unknown."""
    report = None if survey is None else survey.reports.get(device)
    own = report.device_name if report is not None else ""
    match device:
        case "auto":
            return tr("Automatic")
        case "cpu":
            return tr("CPU")
        case "cuda":
            return tr("{1} (CUDA)", own or tr("NVIDIA GPU"))
        case _:
            return tr("{1} (experimental)", EXPERIMENTAL[device])


def device_facts(device: str, survey: Survey | None) -> str:
    if device == AUTO:
        works = tr("Uses the fastest device that works.")
        return (
            works
            if survey is None
            else tr("Uses the fastest device that works: {1}.", survey.auto_name)
        )
    report = None if survey is None else survey.reports.get(device)
    if survey is None or report is None:
        return tr("Always available.") if device == CPU else ""
    if report.works:
        return _speed_text(report.speed.get("images_per_s"))
    if first_with_reason(device, survey) != device:
        return tr("Not available for the same reason.")
    return f"{sentence(report.reason)} {sentence(report.remedy)}".strip()


def _speed_text(images_per_s: float | None) -> str:
    """`Available, about 1,193 images/s.`."""
    if images_per_s is None:
        return tr("Available.")
    rate = QLocale().toString(images_per_s, "f", 0 if images_per_s >= _SLOW else 1)
    return on_one_line(tr("Available, about {1} images/s.", rate))


def survey_note(survey: Survey | None, error: str, *, is_looking: bool) -> str:
    if is_looking:
        return tr("Testing the devices of this computer…")
    if error:
        return tr("The devices could not be tested: {1}", sentence(error))
    if survey is None:
        return tr("The devices have not been tested yet.")
    if not survey.was_alone:
        return tr(
            "Measured with the bundled backbone while other work was running; it is faster when "
            "idle."
        )
    return tr("Measured with the bundled backbone; reading image files takes extra time.")


def chip_tip(chosen: str, used: str, reason: str, notice: str) -> str:
    """Tooltip: device, why it is not a GPU, and the effect of a click."""
    if used:
        first = tr("Device: {1}", used)
    elif chosen == AUTO:
        first = tr("On the fastest device that works")
    else:
        first = tr("Device: {1}", device_title(chosen))
    why = sentence(notice) if notice else ""
    if reason and not notice:
        why = tr("No GPU: {1}", reason)
    return "\n".join(filter(None, (first, why, tr("Click to choose the device"))))


def collection_line(facts: CollectionFacts) -> str:
    """Evaluation of the collection stage on held-out shots."""
    if not facts.is_on:
        return tr("Off: the model learns only from your labels and the class graph.")
    if not facts.is_fitted:
        return tr("Nothing to evaluate yet: no class has an example.")
    figures = facts.figures
    if figures is None or not figures.shots:
        return tr("Not evaluated yet: this needs classes with two examples and some more images.")
    hits = number(figures.hits), number(figures.hits_without)
    if not figures.is_used:
        return plural(
            figures.shots,
            "Off, because it does not help: of 1 held-out example, {1} are correct with it "
            "and {2} without.",
            "Off, because it does not help: of {n} held-out examples, {1} are correct with it "
            "and {2} without.",
            *hits,
        )
    return plural(
        figures.shots,
        "Of 1 held-out example, {1} are correct with it and {2} without.",
        "Of {n} held-out examples, {1} are correct with it and {2} without.",
        *hits,
    )


def recommended_action(recommendation: Recommendation, rows: Mapping[str, ActionRow]) -> str:
    """Label of a recommendation's button."""
    names = RECOMMENDED_ACTIONS.get(recommendation.kind)
    if names:
        return rows[names[-1]].title
    return tr("Show the class") if len(recommendation.class_ids) == 1 else tr("Show the classes")
