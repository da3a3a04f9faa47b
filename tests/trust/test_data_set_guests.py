"""Data sets next to five projects: no faults, and a planted one is detected."""

from pathlib import Path
from random import Random

import pytest

from engine.collection.embed import open_cache
from engine.collection.models import find_model
from engine.config import CACHE_VARIABLE
from tests.trust.data_set_guests import CHANGES, five_projects, open_guests, open_one
from tests.trust.stages import Stage


@pytest.mark.slow
def test_no_embedding_of_others_changes(stage: Stage) -> None:
    row = open_guests(stage, len(CHANGES), seed=1)
    assert row.broken == ()
    assert row.trials == len(CHANGES)


@pytest.mark.slow
def test_a_program_that_writes_over_others_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An image shared by two of the five."""
    guests = five_projects(tmp_path)
    monkeypatch.setenv(CACHE_VARIABLE, str(guests.caches.root))

    def overwrite(_words: list[str]) -> int:
        with open_cache(find_model(), guests.caches) as cache:
            cache.put_many([guests.rows.content_hashes[4] or b""], guests.rows.embeddings[:1])
        return 0

    found, _is_taken = open_one(guests, Random(1), "good", overwrite)
    assert [fault.kind for fault in found] == ["wrong", "wrong"]
