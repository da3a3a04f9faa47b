"""Interrupted runs on a cluster: complete, without duplicates, equal to undisturbed ones."""

import pytest

from tests.trust.cluster_breaker import WAYS, break_many
from tests.trust.stages import Stage


@pytest.mark.slow
def test_a_run_that_is_broken_off_goes_on(stage: Stage) -> None:
    """Each way once; `python -m tests.trust --clusters COUNT` does more."""
    row = break_many(stage, len(WAYS), seed=1)
    assert row.faults == ()
    assert row.trials == len(WAYS)
