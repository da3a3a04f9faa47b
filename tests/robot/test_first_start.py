"""The first start, in a home that nobody has used: to the sample, with something to see all the way."""

import time

from tests.robot.person import Person

SAMPLE_S = 60.0
AT_ONCE_S = 3.0


def test_from_the_first_start_to_the_sample(person: Person) -> None:
    """The window is there at once; the sample's way is seen; its images can be worked with."""
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
