"""The table of published networks: sorting and searching."""

import pytest

from app.backbones.logic import PublishedRow
from app.backbones.network_table import COLUMNS, arranged
from tests.support.backbone_jobs import LARGE, SMALL

ROWS = [PublishedRow(network) for network in (SMALL, LARGE)]


@pytest.mark.parametrize(
    ("title", "first"),
    [
        ("Name", "Largenet (SWAG)"),
        ("Size", "Smallnet"),
        ("Top-1", "Smallnet"),
        ("Input", "Smallnet"),
        ("Licence", "Largenet (SWAG)"),
    ],
)
def test_sorted_by_each_column(title: str, first: str) -> None:
    """Each column sorts ascending and descending."""
    (column,) = [column for column in COLUMNS if column.title == title]
    names = [row.name for row in arranged(ROWS, column)]
    assert names[0] == first
    assert [row.name for row in arranged(ROWS, column, descending=True)] == names[::-1]


def test_search_takes_all_words_in_name_and_licence() -> None:
    """Words match in any order, ignoring case."""
    assert [
        row.network.network for row in arranged(ROWS, COLUMNS[0], words="commercial LARGE")
    ] == ["largenet"]
    assert [row.network.network for row in arranged(ROWS, COLUMNS[0], words="net imagenet1k")] == [
        "largenet",
        "smallnet",
    ]
    assert arranged(ROWS, COLUMNS[0], words="resnet") == []
