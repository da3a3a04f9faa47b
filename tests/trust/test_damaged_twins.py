"""Damaged projects with twins: each gets its own backups only."""

import pytest

from tests.trust.damaged_twins import DAMAGE, Plan, restore_many, restore_one
from tests.trust.stages import Stage


@pytest.mark.slow
def test_nothing_of_another_project_comes_unasked(stage: Stage) -> None:
    row = restore_many(stage, len(DAMAGE), seed=5)
    assert row.broken == ()
    assert row.acknowledged > 0


@pytest.mark.slow
def test_a_program_that_goes_by_the_name_is_found_out(stage: Stage) -> None:
    found = [
        restore_one(stage, Plan("emptied", "the first number", seed, is_careless=True))
        for seed in range(8)
    ]
    assert "wrong" in {fault.kind for trial in found for fault in trial.faults}
