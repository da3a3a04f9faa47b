"""Data of the backbone panel, without Qt."""

import pytest

from app.backbones.logic import Origin, PublishedRow
from tests.support.backbone_jobs import SMALL
from tests.support.backbone_panel import backbone_row


def test_a_published_network_as_the_worker_lists_it() -> None:
    """A published network has a readable name."""
    row = PublishedRow(SMALL)
    assert (row.name, row.is_here) == ("Smallnet", False)


@pytest.mark.parametrize(
    ("origin", "is_used", "is_removable"),
    [
        (Origin.ADDED, False, True),
        (Origin.PUBLISHED, False, True),
        (Origin.ADDED, True, False),
        (Origin.BUNDLED, False, False),
    ],
)
def test_what_can_be_removed(origin: Origin, is_used: bool, is_removable: bool) -> None:
    """Backbones that were added, unless the project uses them."""
    row = backbone_row(origin, is_used=is_used)
    assert (row.origin, row.is_removable) == (origin, is_removable)
