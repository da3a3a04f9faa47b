"""Cached files of a large collection that are damaged, exchanged or partial are not used."""

from collections.abc import Sequence

import pytest

from engine.collection.live import LiveCollection
from engine.config import CacheFolders
from engine.embedding.embedding_rows import EmbeddingRows, EmbeddingRowsCache
from tests.trust.cache_breaker import break_caches
from tests.trust.cache_shown import cache_faults, open_once
from tests.trust.children import Place, run_apart
from tests.trust.large_projects import take_for_large
from tests.trust.outcome import Fault
from tests.trust.stages import Stage


@pytest.mark.slow
def test_nothing_kept_is_believed(stage: Stage) -> None:
    """A few ways; `python -m tests.trust --caches COUNT` does more."""
    row = break_caches(stage, 6, seed=4)
    assert row.broken == ()
    assert row.acknowledged > 50


def _exchange_embeddings(place: Place) -> Sequence[Fault]:
    """Write a valid file of rows with exchanged embeddings, and open the project."""
    take_for_large()
    open_once(place.project, closes=True)
    live = LiveCollection.open(place.project, CacheFolders.default())
    kept = EmbeddingRowsCache(
        CacheFolders.default().collections, live.embedded.name, live.model.card.embedding_width
    )
    live.project.close()
    rows = kept.read()
    assert rows is not None
    count = len(rows.image_ids)
    kept.write(
        EmbeddingRows(
            rows.image_ids, rows.contents, rows.is_filled, rows.embeddings[:count][::-1].copy()
        )
    )
    return cache_faults(place, [])


@pytest.mark.slow
def test_foreign_rows_are_found(stage: Stage) -> None:
    """The instrument detects classification by exchanged embeddings."""
    place = stage.lay(stage.folder / "foreign rows", with_caches=True, project=stage.large)
    ending = run_apart(place, _exchange_embeddings, place)
    assert ending.error == ""
    assert {fault.kind for fault in ending.answer} == {"wrong"}
    assert any("other than without any" in fault.text for fault in ending.answer)
