"""The table of published networks: sorted and searched."""

import pytest

from app.backbones.logic import PublishedRow
from app.backbones.published_model import COLUMNS, arranged
from tests.support.backbone_jobs import LARGE, SMALL

ROWS = [PublishedRow(network) for network in (SMALL, LARGE)]


@pytest.mark.parametrize(
    ("title", "first"),
    [
        ("Name", "largenet SWAG_V1"),
        ("Size", "smallnet V1"),
        ("Top-1", "smallnet V1"),
        ("Input", "smallnet V1"),
        ("Licence", "largenet SWAG_V1"),
    ],
)
def test_sorted_by_each_column(title: str, first: str) -> None:
    """Both ways."""
    (column,) = [column for column in COLUMNS if column.title == title]
    names = [row.name for row in arranged(ROWS, column)]
    assert names[0] == first
    assert [row.name for row in arranged(ROWS, column, descending=True)] == names[::-1]


def test_search_takes_all_words_in_name_and_licence() -> None:
    """In any order, in any case."""
    assert [row.network.network for row in arranged(ROWS, COLUMNS[0], words="commercial LARGE")] == ["largenet"]
    assert [row.network.network for row in arranged(ROWS, COLUMNS[0], words="net v1")] == ["largenet", "smallnet"]
    assert arranged(ROWS, COLUMNS[0], words="resnet") == []
