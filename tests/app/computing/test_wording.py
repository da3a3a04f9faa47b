"""Texts of the panel and of the chip."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from PySide6.QtCore import QLocale
from pytestqt.qtbot import QtBot

from app.computing.controller import DeviceChip
from app.computing.logic import CollectionFacts, Survey
from app.computing.wording import chip_tip, collection_line, device_facts, device_title, survey_note
from engine.everyday.classifier import CollectionFigures
from tests.support.surveys import REMEDY, WHY, WITH_GPU, WITHOUT_GPU

NONE = Survey.of_list(WITHOUT_GPU)
GPU = Survey.of_list(WITH_GPU)


@pytest.fixture(autouse=True)
def english() -> Iterator[None]:
    """Use an English locale, whatever the system's is."""
    before = QLocale()
    QLocale.setDefault(QLocale(QLocale.Language.English, QLocale.Country.UnitedStates))
    yield
    QLocale.setDefault(before)


def test_devices_have_the_name_of_what_is_there() -> None:
    """The name of the GPU, once it is known."""
    assert [device_title(device) for device in ("auto", "cpu", "cuda")] == [
        "Automatic",
        "CPU",
        "NVIDIA GPU (CUDA)",
    ]
    assert device_title("cuda", NONE) == "NVIDIA GPU (CUDA)"
    assert device_title("cuda", GPU) == "NVIDIA H200 (CUDA)"
    assert device_title("tensorrt", GPU) == "TensorRT (experimental)"
    assert device_title("coreml") == "CoreML (experimental)"
    assert device_title("directml") == "DirectML (experimental)"


def test_a_refused_device_gives_reason_and_remedy_once() -> None:
    """As sentences; the next device with the same reason only refers to it."""
    facts = device_facts("cuda", NONE)
    assert facts == f"T{WHY[1:]}. N{REMEDY[1:]}."
    assert device_facts("tensorrt", NONE) == "Not available for the same reason."


def test_a_device_that_works_gives_its_speed() -> None:
    """Measured images per second."""
    assert device_facts("cpu", NONE) == "Available, about 850\u00a0images/s."
    assert device_facts("cuda", GPU) == "Available, about 12,000\u00a0images/s."
    slow = replace(GPU, reports={"cpu": replace(GPU.reports["cpu"], speed={"images_per_s": 2.25})})
    assert device_facts("cpu", slow) == "Available, about 2.3\u00a0images/s."
    unmeasured = replace(GPU, reports={"cpu": replace(GPU.reports["cpu"], speed={})})
    assert device_facts("cpu", unmeasured) == "Available."


def test_automatic_says_what_it_takes() -> None:
    """Automatic names the device that it uses, once the devices are tested."""
    assert device_facts("auto", None) == "Uses the fastest device that works."
    assert device_facts("auto", GPU) == "Uses the fastest device that works: NVIDIA H200."
    assert device_facts("cuda", None) == ""


def test_the_note_says_how_far_the_look_is() -> None:
    """The note covers running, failed, never tested, disturbed and finished surveys."""
    assert survey_note(None, "", is_looking=True).startswith("Testing")
    assert (
        survey_note(None, "it ended", is_looking=False)
        == "The devices could not be tested: It ended."
    )
    assert "not been tested" in survey_note(None, "", is_looking=False)
    assert "while other work was running" in survey_note(
        replace(NONE, was_alone=False), "", is_looking=False
    )
    assert "bundled backbone; reading" in survey_note(NONE, "", is_looking=False)


def test_the_chip_tells_device_and_reason() -> None:
    """The device, why it is not a GPU, what failed, and what a click does."""
    assert chip_tip("auto", "", "", "").splitlines()[0] == "On the fastest device that works"
    assert chip_tip("cpu", "", "", "").splitlines()[0] == "Device: CPU"
    assert chip_tip("auto", "CPU", WHY, "").splitlines() == [
        "Device: CPU",
        f"No GPU: {WHY}",
        "Click to choose the device",
    ]
    assert chip_tip("cuda", "CPU", WHY, "GPU 1 failed").splitlines()[1] == "GPU 1 failed."


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        (CollectionFacts(is_on=False, is_fitted=True), "Off: the model"),
        (CollectionFacts(is_on=True), "no class has an example"),
        (CollectionFacts(is_on=True, is_fitted=True), "Not evaluated yet"),
        (
            CollectionFacts(True, True, CollectionFigures(True, 1_240, 1_001, 900)),
            "Of 1,240 held-out examples, 1,001 are correct with it and 900 without.",
        ),
        (
            CollectionFacts(True, True, CollectionFigures(False, 40, 18, 21)),
            (
                "Off, because it does not help: of 40 held-out examples, "
                "18 are correct with it and 21 without."
            ),
        ),
    ],
)
def test_the_check_is_summarised_in_one_line(facts: CollectionFacts, words: str) -> None:
    """The line also says that the stage disabled itself, or that nothing was checked."""
    assert words in collection_line(facts)


@pytest.fixture
def chip(qtbot: QtBot) -> DeviceChip:
    """A new chip."""
    chip = DeviceChip()
    qtbot.addWidget(chip)
    return chip


def test_it_shows_what_was_chosen_until_more_is_known(chip: DeviceChip) -> None:
    """The chip shows the chosen device, then the one in use, also in its accessible name."""
    assert (chip.text(), chip.accessibleName()) == ("Automatic", "Device: Automatic")
    chip.show_used("CPU", "there is no driver")
    assert (chip.text(), chip.accessibleName()) == ("CPU", "Device: CPU")
    assert "No GPU: there is no driver" in chip.toolTip()
    assert chip.accessibleDescription() == chip.toolTip()


def test_a_reason_stays_with_its_device(chip: DeviceChip) -> None:
    """Progress reports repeat the device without a reason; another device clears the reason."""
    chip.show_used("CPU", "there is no driver")
    chip.show_used("CPU")
    assert "no driver" in chip.toolTip()
    chip.show_used("GPU 1")
    assert "no driver" not in chip.toolTip()


def test_a_choice_ends_what_was_known(chip: DeviceChip) -> None:
    """Name, reason and notice belong to the previous device."""
    chip.show_used("CPU")
    chip.show_notice("GPU 1 failed (no memory); continuing on the CPU")
    assert "GPU 1 failed" in chip.toolTip()
    chip.show_chosen("cpu")
    assert "GPU 1" not in chip.toolTip()
    assert "Device: CPU" in chip.toolTip()


def test_a_long_name_is_cut_on_the_chip_and_whole_in_the_tip(chip: DeviceChip) -> None:
    """The width in the status bar is limited."""
    name = "NVIDIA GeForce RTX 4090 Laptop GPU with a very long name"
    chip.show_used(name)
    assert chip.text().endswith("…")
    assert name in chip.toolTip()
    assert chip.sizeHint().width() < 240
