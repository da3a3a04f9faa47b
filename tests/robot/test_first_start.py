"""The first start in a fresh home: to the sample, with continuous feedback."""

import time

from tests.robot.person import Person

SAMPLE_S = 60.0
AT_ONCE_S = 3.0


def test_from_the_first_start_to_the_sample(person: Person) -> None:
    """The window appears at once; the sample shows its progress, and its images can be labelled."""
    person.start()
    person.part("Sample collection", "push button")
    before = person.eyes.look(person.window)
    person.click("Sample collection", "push button")
    start = time.monotonic()
    person.wait(
        lambda: (person.eyes.look(person.window) != before).mean() > 0.01, "an answer", AT_ONCE_S
    )
    person.wait(
        lambda: person.reader.containing("Cancel") or person.reader.containing("Stop"),
        "a way to stop it",
    )
    person.wait(lambda: person.eyes.window("sample"), "the sample", SAMPLE_S)
    person.part_containing("Flowers", "tree item", SAMPLE_S - (time.monotonic() - start))
    person.part("Images")
