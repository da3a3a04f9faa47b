"""The chip that names the device."""

import pytest
from pytestqt.qtbot import QtBot

from app.computing.device_chip import DeviceChip


@pytest.fixture
def chip(qtbot: QtBot) -> DeviceChip:
    """A chip of a window that was just opened."""
    chip = DeviceChip()
    qtbot.addWidget(chip)
    return chip


def test_it_shows_what_was_chosen_until_more_is_known(chip: DeviceChip) -> None:
    """Then what really looks at images, also for those who cannot see it."""
    assert (chip.text(), chip.accessibleName()) == ("Automatic", "Device: Automatic")
    chip.show_used("CPU", "there is no driver")
    assert (chip.text(), chip.accessibleName()) == ("CPU", "Device: CPU")
    assert "No GPU: there is no driver" in chip.toolTip()
    assert chip.accessibleDescription() == chip.toolTip()


def test_a_reason_stays_with_its_device(chip: DeviceChip) -> None:
    """Progress names the device again and again without a reason; another device has none."""
    chip.show_used("CPU", "there is no driver")
    chip.show_used("CPU")
    assert "no driver" in chip.toolTip()
    chip.show_used("GPU 1")
    assert "no driver" not in chip.toolTip()


def test_a_choice_ends_what_was_known(chip: DeviceChip) -> None:
    """Name, reason and notice belong to the device that was."""
    chip.show_used("CPU")
    chip.show_notice("GPU 1 failed (no memory); the CPU takes over from there")
    assert "GPU 1 failed" in chip.toolTip()
    chip.show_chosen("cpu")
    assert "GPU 1" not in chip.toolTip()
    assert "Device: CPU" in chip.toolTip()


def test_a_long_name_is_cut_in_sight_and_whole_in_the_tip(chip: DeviceChip) -> None:
    """The status bar keeps its room."""
    name = "NVIDIA GeForce RTX 4090 Laptop GPU with a very long name"
    chip.show_used(name)
    assert chip.text().endswith("…")
    assert name in chip.toolTip()
    assert chip.sizeHint().width() < 240
