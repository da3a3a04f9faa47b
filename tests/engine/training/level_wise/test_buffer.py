from pathlib import Path

import numpy as np
import pytest
import torch

from engine.training import checkpoints
from engine.training.level_wise import PrototypeBuffer
from tests.support.category_graphs import Lookup, two_branches


def test_means_of_all_images() -> None:
    """Eq. 3 by hand; a few-shot class without images has no prototype, and its row stays zero."""
    training_set = two_branches((2, 1, 3, 1, 1, 0))
    rows = [
        [1.0, 0.0],
        [3.0, 0.0],
        [0.0, 7.0],
        [3.0, 3.0],
        [3.0, 6.0],
        [0.0, 0.0],
        [5.0, 5.0],
        [6.0, 6.0],
    ]
    buffer = PrototypeBuffer(training_set, 2)
    assert not buffer.exists.any()
    buffer.refresh(Lookup(torch.tensor(rows)))
    expected = [[2.0, 0.0], [0.0, 7.0], [2.0, 3.0], [5.0, 5.0], [6.0, 6.0], [0.0, 0.0]]
    torch.testing.assert_close(buffer.vectors, torch.tensor(expected))
    assert buffer.exists.tolist() == [True] * 5 + [False]


def test_coarse_class_takes_what_is_below_it() -> None:
    """Without images of its own it is the mean over all images below, which are embedded once."""
    training_set = two_branches((0, 1, 3, 1, 2, 2))
    table = torch.randn(9, 3, generator=torch.Generator().manual_seed(0))
    buffer, embed = PrototypeBuffer(training_set, 3), Lookup(table)
    buffer.refresh(embed)
    torch.testing.assert_close(buffer.vectors[0], table[1:5].mean(dim=0))  # image 0 is of class 1
    torch.testing.assert_close(buffer.vectors[1], table[0])
    assert [asked.tolist() for asked in embed.asked] == [list(range(9))]


def test_at_most_a_sample_of_each_class() -> None:
    """With a generator, so many images of a larger class count, without replacement."""
    training_set = two_branches((20, 2, 20, 20, 20, 20))
    buffer, embed = PrototypeBuffer(training_set, 1), Lookup(torch.arange(102.0)[:, None])
    buffer.refresh(embed, np.random.default_rng(0), sample=5)
    (asked,) = embed.asked
    assert np.bincount(training_set.class_positions[asked]).tolist() == [5, 2, 5, 5, 5, 5]
    assert buffer.vectors[0].item() == pytest.approx(asked[:5].mean())
    buffer.refresh(embed, np.random.default_rng(1), sample=5)
    assert embed.asked[1].tolist() != asked.tolist()
    buffer.refresh(embed, np.random.default_rng(0), sample=5)
    assert embed.asked[2].tolist() == asked.tolist()


@pytest.mark.parametrize(("generator", "sample"), [(None, 5), (np.random.default_rng(0), None)])
def test_all_images_where_nothing_is_sampled(
    generator: np.random.Generator | None, sample: int | None
) -> None:
    """Without a generator (at the end) or a limit (as in the paper) every image counts."""
    buffer, embed = (
        PrototypeBuffer(two_branches((20, 2, 20, 20, 20, 20)), 1),
        Lookup(torch.zeros(102, 1)),
    )
    buffer.refresh(embed, generator, sample=sample)
    assert embed.asked[0].tolist() == list(range(102))


def test_prototypes_of_classes() -> None:
    """A part of the buffer, in the requested order."""
    buffer = PrototypeBuffer(two_branches((1, 1, 1, 1, 1, 0)), 1)
    buffer.refresh(Lookup(torch.arange(5.0)[:, None]))
    part = buffer.prototypes_of(torch.tensor([5, 3, 0]))
    assert part.vectors[1:, 0].tolist() == [3.0, 0.0]
    assert part.exists.tolist() == [False, True, True]


def test_survives_a_checkpoint(tmp_path: Path) -> None:
    """The buffer is part of the state, though nothing is learned in it."""
    buffer = PrototypeBuffer(two_branches((1, 1, 1, 1, 1, 0)), 1)
    buffer.refresh(Lookup(torch.arange(5.0)[:, None] + 0.5))
    assert list(buffer.parameters()) == []
    optimizer = torch.optim.Adam([torch.nn.Parameter(torch.zeros(1))])
    notes = checkpoints.capture(
        buffer, optimizer, iteration=1, curve=(), pending_losses=(), settings={}
    )
    checkpoints.write(notes, tmp_path / "checkpoint")
    restored = PrototypeBuffer(two_branches((1, 1, 1, 1, 1, 0)), 1)
    checkpoints.restore_module(restored, checkpoints.read(tmp_path / "checkpoint"))
    assert torch.equal(restored.vectors, buffer.vectors)
    assert torch.equal(restored.exists, buffer.exists)
