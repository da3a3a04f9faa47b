"""Three photos dropped into a large project, here a small one."""

import pytest

from research.benchmarks.drop import measure_drop


@pytest.mark.slow
def test_every_figure_is_measured() -> None:
    """Photos are predicted, and the process stays alive for the next drop."""
    figures = measure_drop(1_000, rounds=1)
    _starting, over_fit, over_pass, memory = figures.rows
    assert figures.images == 1_000
    assert over_fit.figure == over_pass.figure > 0
    assert over_fit.reference is not None
    assert over_fit.reference > 0
    assert memory.figure > 10
