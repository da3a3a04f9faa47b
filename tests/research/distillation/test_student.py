"""A student learns the similarities of its teacher."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from torch.nn.functional import normalize

from engine.training.arithmetic import normalised
from engine.training.thawed.network import ThawedNetwork, thawed
from research.distillation.student import (
    DistillationSettings,
    Losses,
    augmented,
    distil,
    similarity_loss,
)
from tests.support.backbones import write_tiny_backbone

SETTINGS = DistillationSettings(
    iterations=60, batch=16, sides=(16, 32), learning_rate=0.02, head_rate=0.02
)
PIXELS = (
    np.random.default_rng(0)
    .integers(0, 256, (64, 4, 4, 3), dtype=np.uint8)
    .repeat(8, axis=1)
    .repeat(8, axis=2)
)
"""Pictures of sixteen coloured squares."""


def _network(folder: Path, seed: int) -> ThawedNetwork:
    write_tiny_backbone(folder / f"{seed}.onnx", seed=seed)
    return thawed(folder / f"{seed}.onnx")


def _embedded(network: ThawedNetwork) -> torch.Tensor:
    with torch.no_grad():
        return normalize(network(normalised(torch.from_numpy(PIXELS))), dim=1)


def test_the_student_comes_to_see_similarity_as_its_teacher_does(tmp_path: Path) -> None:
    """Both losses fall, also for the averaged weights."""
    student, teacher = _network(tmp_path, 0), _embedded(_network(tmp_path, 1))
    before = similarity_loss(_embedded(student), teacher, SETTINGS)
    reports: list[Losses] = []
    distil(student, PIXELS, teacher.numpy(), SETTINGS, reports.append)
    assert [each.iteration for each in reports] == [50, 60]
    assert reports[1].similarity < reports[0].similarity
    assert similarity_loss(_embedded(student), teacher, SETTINGS) < 0.7 * before


def test_who_sees_as_the_teacher_does_has_no_loss(tmp_path: Path) -> None:
    """Rotations do not matter; the similarity of a photo to itself is ignored."""
    teacher = _embedded(_network(tmp_path, 0))
    turned = (
        teacher
        @ torch.linalg.qr(torch.randn(16, 16, generator=torch.Generator().manual_seed(0)))[0]
    )
    as_sharp = replace(SETTINGS, student_sharpness=SETTINGS.teacher_sharpness)
    assert similarity_loss(turned, teacher, as_sharp).item() == pytest.approx(0, abs=1e-4)
    assert similarity_loss(teacher.roll(1, dims=0), teacher, as_sharp).item() > 0.01


@pytest.mark.parametrize("side", [16, 32])
def test_a_photo_is_flipped_and_lit_and_stays_itself(side: int) -> None:
    """Every augmented photo is still most similar to itself or its mirror image."""
    found = augmented(PIXELS, side, np.random.default_rng(0))
    assert found.shape == (64, 3, side, side)
    flat = normalised(torch.from_numpy(PIXELS))
    both = torch.stack([flat, flat.flip(3)])
    both = torch.nn.functional.interpolate(
        both.flatten(0, 1), (side, side), mode="bilinear", antialias=True
    )
    cosines = normalize(found.flatten(1), dim=1) @ normalize(both.flatten(1), dim=1).T
    nearest = cosines.argmax(dim=1)
    assert torch.equal(nearest % 64, torch.arange(64))
    assert 10 < int((nearest >= 64).sum()) < 54
