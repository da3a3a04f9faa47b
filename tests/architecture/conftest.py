"""Tests of this folder run in one process of a parallel run, so modules are parsed once."""

from pathlib import Path

import pytest


@pytest.hookimpl(tryfirst=True)  # before the plugin that reads the group
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the tests of this folder into one group."""
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker(pytest.mark.xdist_group("architecture"))
