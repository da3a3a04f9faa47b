"""Devices and the collection stage in words, in the person's language and number format."""

from typing import Final

from PySide6.QtCore import QLocale

from app.computing.logic import CPU, ON_DEMAND, CollectionFacts, DeviceReport, Survey, first_with_reason
from app.texts import fill, translate
from app.wording import number, sentence
from engine.runtime.devices.names import AUTO

_SLOW: Final = 10


def device_title(device: str, survey: Survey | None = None) -> str:
    """`NVIDIA H200 (CUDA)`; without a name of the computer's own the kind of device."""
    report = None if survey is None else survey.reports.get(device)
    own = report.name if report is not None and device != "tensorrt" else ""
    match device:
        case "auto":
            return translate("computing", "Automatic")
        case "cpu":
            return translate("computing", "CPU")
        case "cuda":
            return fill(translate("computing", "%1 (CUDA)"), own or translate("computing", "NVIDIA GPU"))
        case "tensorrt":
            return translate("computing", "NVIDIA GPU (TensorRT)")
        case "coreml":
            return translate("computing", "Apple CoreML")
        case _:
            return translate("computing", "GPU with DirectX 12 (DirectML)")


def device_facts(device: str, survey: Survey | None) -> str:
    """What there is to say below a device's name."""
    if device == AUTO:
        return _auto_facts(survey)
    report = None if survey is None else survey.reports.get(device)
    if survey is None or report is None:
        return translate("computing", "Always available.") if device == CPU else ""
    if report.works:
        return speed(report)
    if report.cause == ON_DEMAND:
        return translate(
            "computing", "Its libraries are installed. It builds an engine before the first image, which takes minutes."
        )
    if first_with_reason(device, survey) != device:
        return translate("computing", "Not available for the same reason.")
    return f"{sentence(report.reason)} {sentence(report.remedy)}".strip()


def _auto_facts(survey: Survey | None) -> str:
    if survey is None:
        return translate("computing", "Uses the fastest device that works.")
    return fill(translate("computing", "Uses the fastest device that works: %1."), survey.auto_name)


def speed(report: DeviceReport) -> str:
    """`Available, about 1,193 images/s.`, as far as it was measured."""
    if report.images_per_s is None:
        return translate("computing", "Available.")
    figures = 0 if report.images_per_s >= _SLOW else 1
    rate = QLocale().toString(report.images_per_s, "f", figures)
    return fill(translate("computing", "Available, about %1 images/s."), rate)


def survey_note(survey: Survey | None, error: str, *, is_looking: bool) -> str:
    """What the figures mean, or how far the look at the devices is."""
    if is_looking:
        return translate("computing", "Testing the devices of this computer…")
    if error:
        return fill(translate("computing", "The devices could not be tested: %1"), sentence(error))
    if survey is None:
        return translate("computing", "The devices have not been tested yet.")
    if not survey.was_alone:
        return translate(
            "computing", "Measured with the bundled backbone while other work was running, so it is faster than that."
        )
    return translate("computing", "Measured with the bundled backbone; reading image files takes extra time.")


def chip_tip(chosen: str, used: str, reason: str, notice: str) -> str:
    """What looks at images, why it is no GPU, and what a click does; one line each."""
    if used:
        first = fill(translate("computing", "Device: %1"), used)
    elif chosen == AUTO:
        first = translate("computing", "On the fastest device that works")
    else:
        first = fill(translate("computing", "Device: %1"), device_title(chosen))
    why = sentence(notice) if notice else ""
    if reason and not notice:
        why = fill(translate("computing", "No GPU: %1"), reason)
    return "\n".join(filter(None, (first, why, translate("computing", "Click to choose the device"))))


def chip_name(text: str) -> str:
    """The chip for those who cannot see it."""
    return fill(translate("computing", "Device: %1"), text)


def collection_line(facts: CollectionFacts) -> str:
    """What the check on held-out shots said, and what would help most."""
    line = _check_line(facts)
    if not facts.is_elsewhere:
        return line
    advice = translate(
        "computing",
        "Your labelled images look different from most others here. Labelling a few of those would help most.",
    )
    return f"{line} {advice}"


def _check_line(facts: CollectionFacts) -> str:
    if not facts.is_on:
        return translate("computing", "Off: the model learns only from your labels and the category graph.")
    if not facts.is_fitted:
        return translate("computing", "Nothing to evaluate yet: no class has an example.")
    if not facts.shots:
        return translate("computing", "Not evaluated yet: this needs classes with two examples and some more images.")
    counts = number(facts.shots), number(facts.hits), number(facts.hits_without)
    if not facts.is_used:
        return fill(
            translate(
                "computing",
                "Off, because it does not help: of %1 held-out examples, %2 are correct with it and %3 without.",
            ),
            *counts,
        )
    return fill(translate("computing", "Of %1 held-out examples, %2 are correct with it and %3 without."), *counts)
