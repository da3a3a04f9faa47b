"""Exporting from the card."""

from pathlib import Path

from app.wording import SEPARATOR
from tests.robot.person import Person

STILL_S = 0.5
EXPORTED_S = 30.0


def export_verified(person: Person, title: str, target: Path) -> None:
    """Export the verified images in a format, chosen by its title, to a path."""
    person.hand.key("Ctrl+Shift+E")
    person.click(title, "radio button")
    person.hand.click(person.part_containing("Verified only", "radio button").area.centre)
    _export_to(person, target)


def export_all(person: Person, title: str, target: Path) -> None:
    """Export every image in a format, chosen by its title, to a path."""
    person.hand.key("Ctrl+Shift+E")
    person.click(title, "radio button")
    person.hand.click(person.part_containing(f"All{SEPARATOR}", "radio button").area.centre)
    _export_to(person, target)


def _export_to(person: Person, target: Path) -> None:
    # The layout changes when the preview arrives.
    person.wait_until_at_rest(person.window, STILL_S, EXPORTED_S)
    field = person.part("File" if target.suffix else "Folder", "text")
    person.hand.click(field.area.centre)
    person.hand.key("Ctrl+A")
    person.hand.type(str(target))
    person.wait(lambda: person.reader.text_of(field) == str(target), "the place in its field")
    person.wait(lambda: person.part("Export", "push button").is_enabled, "that it can be exported")
    person.click("Export", "push button")
    person.wait(target.exists, target.name, EXPORTED_S)
