"""Full disks: named in every refusal, without loss of acknowledged actions."""

import pytest

from tests.trust.activities import ACTIVITIES
from tests.trust.disk_filler import can_fill, fill_many
from tests.trust.stages import Stage

QUICK = tuple(name for name in ACTIVITIES if name != "train")  # loading torch takes seconds


@pytest.mark.slow
def test_a_full_disk_is_named_and_nothing_is_lost(stage: Stage) -> None:
    """Every activity with almost no free space."""
    if not can_fill(stage):
        pytest.skip("this system lets nobody mount a small disk")
    row = fill_many(stage, 2 * len(QUICK), seed=5, names=QUICK)
    assert row.broken == ()
