"""The user guide next to the program: opened, searched, read and closed."""

from tests.robot.person import Person

TITLE = "User guide"


def test_the_guide_is_opened_searched_and_closed(person: Person) -> None:
    """F1, a word, Enter; Esc clears the field, then closes; the program has the focus again."""
    person.start()
    person.hand.key("F1")
    person.wait(lambda: person.eyes.is_active(TITLE), "the guide in front")
    person.wait(lambda: person.reader.focused("text"), "the search field")
    person.hand.type("backups")
    person.part_containing("Backups. Keeping your work safe", "list item")
    person.hand.key("Enter")
    person.part("Keeping your work safe", "label")
    person.hand.key("Esc")
    person.part("Your first collection", "list item")
    person.hand.key("Esc")
    person.wait(lambda: person.eyes.window(TITLE) is None, "no guide")
    person.wait(lambda: person.eyes.is_active("Protoleaf"), "the program in front")
    person.hand.key("Ctrl+K")
    person.part("Search commands and classes", "text")


def test_a_page_is_clicked(person: Person) -> None:
    """A click in the contents opens a page."""
    person.start()
    person.hand.key("F1")
    person.wait(lambda: person.eyes.is_active(TITLE), "the guide in front")
    person.click("Troubleshooting", "list item")
    person.part("Troubleshooting", "label")
    person.hand.key("Esc")
    person.wait(lambda: person.eyes.is_active("Protoleaf"), "the program in front")
