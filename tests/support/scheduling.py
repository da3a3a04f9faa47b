"""Distribution of tests over the processes of a parallel run."""

from typing import final

from xdist.scheduler import LoadScopeScheduling

TOGETHER = (
    ("tests/architecture/",),  # parse every module
    ("tests/packaging/test_translations.py", "tests/flows/pseudo_language/"),  # collect all texts
    (
        "tests/engine/backbones/published/",  # import PyTorch
        "tests/engine/everyday/prototypical/test_propagation.py",
        "tests/engine/training/",
        "tests/protoleaf/",
    ),
)
"""Tests that begin with the same long work, which one process does once."""


@final
class SharedWorkScheduling(LoadScopeScheduling):  # type: ignore[misc]
    """Give each free process the next test; tests of `TOGETHER` go to one process.

    The plugin's own groups (`--dist loadgroup`) have no effect with pytest 9.2.
    """

    def _split_scope(self, nodeid: str) -> str:
        for places in TOGETHER:
            if nodeid.startswith(places):
                return places[0]
        return nodeid
