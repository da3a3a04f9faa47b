"""Three photos dropped into a large project, here a small one."""

from research.benchmarks.drop import measure_drop


def test_every_figure_is_measured() -> None:
    """Photos are predicted, by a process that is then still there."""
    figures = measure_drop(1_000, rounds=1)
    assert figures.images == 1_000
    assert figures.fit_s > 0
    assert figures.warm_s > 0
    assert figures.over_fit == figures.warm_s / figures.fit_s
    assert figures.memory_mib > 10
