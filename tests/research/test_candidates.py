"""Candidates for the bundled backbone: shapes, and initialisation from a deeper network."""

import pytest
import torch

from engine.errors import UsageError
from research.candidates import CANDIDATES, candidate, take_over
from research.leaf_net import LeafNet


def test_candidates_start_from_candidates() -> None:
    """A start is a candidate of the same widths."""
    for each in CANDIDATES.values():
        if each.start:
            assert candidate(each.start).widths == each.widths
    with pytest.raises(UsageError, match="no such candidate"):
        candidate("resnet-9000")


def test_the_first_blocks_of_each_stage_are_taken_over() -> None:
    """The first stage of the shorter network is the first block of the deeper one's."""
    with torch.random.fork_rng():
        torch.manual_seed(0)
        deep, short = (LeafNet((4, 6), blocks, stem_width=4).eval() for blocks in ((2, 2), (1, 2)))
    take_over(short, deep.state_dict(), (2, 2))
    images = torch.randn(1, 3, 16, 16, generator=torch.Generator().manual_seed(1))
    assert torch.equal(short.maps(images)[0], deep.stages[:4](images))
    assert torch.equal(short.stages[4](images := deep.stages[:4](images)), deep.stages[5](images))
    assert torch.equal(
        short.stages[5](short.stages[4](images)), deep.stages[6](deep.stages[5](images))
    )


def test_what_the_classifier_listens_to() -> None:
    """The last stage alone, or all stages."""
    deep, short = candidate("deep"), candidate("short")
    assert deep.trained_part(deep.network()).embedding_width == 384
    assert short.trained_part(short.network()).embedding_width == 720
