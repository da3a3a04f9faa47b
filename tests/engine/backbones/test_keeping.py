"""Bundled backbones that are made on this computer.

Once, whole or not at all, and anew when they are damaged.
"""

from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest

from engine.backbones import convert
from engine.backbones.bundled import convert_kept
from engine.backbones.convert import STEPS, trial_squares
from engine.backbones.model_files import (
    bundled_backbones,
    converted_backbones,
    converted_path,
    model_files,
)
from engine.collection.models import all_models
from engine.errors import Cancelled, ModelError
from engine.events import CancelToken, Progress
from engine.model.efficientnet_lite import LITE_VARIANTS, EfficientNetLite
from engine.runtime.activations import write_activations
from engine.runtime.backbone import BackboneSession
from engine.runtime.eight_bit import companion_of, eight_bit_path
from engine.runtime.providers import CPU_CHOICE
from tests.support.companions import cannot_overflow
from tests.support.full_disk import full_disk_after
from tests.support.weights_package import NAME, InstalledWeights, install_weights, tiny_activations


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> InstalledWeights:
    """The weights package of a tiny network."""
    return install_weights(tmp_path, monkeypatch)


def _left() -> list[str]:
    """What lies where converted backbones are kept, besides locks."""
    return [path.name for path in converted_backbones().glob("*") if path.suffix != ".lock"]


@pytest.mark.slow
def test_made_once(installed: InstalledWeights) -> None:
    """The steps are reported, the files are whole, and the second time nothing is done.

    The card is the shipped one.
    """
    as_full_disk: list[Progress] = []
    assert converted_path(NAME) is None
    assert NAME in bundled_backbones()
    assert NAME not in [model.name for model in all_models()]
    path = convert_kept(NAME, on_progress=as_full_disk.append)
    assert [(each.done, each.note) for each in as_full_disk] == [
        *enumerate(STEPS),
        (len(STEPS), ""),
    ]
    assert path == converted_path(NAME)
    files = model_files(path)
    assert (files.is_bundled, files.card) == (True, installed.card)
    assert NAME in [model.name for model in all_models()]
    assert convert_kept(NAME, on_progress=as_full_disk.append) == path
    assert len(as_full_disk) == len(STEPS) + 1
    embeddings = BackboneSession(path, files.card, CPU_CHOICE).embed(trial_squares(files.card))
    assert np.linalg.norm(embeddings, axis=1) == pytest.approx(1, abs=1e-3)


@pytest.mark.slow
def test_the_same_bytes_each_time(installed: InstalledWeights) -> None:
    """A project that goes to another computer finds the same backbone there.

    Layers keep their names.
    """
    path = convert_kept(NAME)
    before = path.read_bytes()
    path.unlink()
    assert convert_kept(NAME).read_bytes() == before
    network = onnx.load_from_string(before)
    assert {"stem", "stages.1.0.depthwise", "head", "embeddings"} <= {
        node.output[0] for node in network.graph.node
    }
    assert "BatchNormalization" not in {node.op_type for node in network.graph.node}


@pytest.mark.slow
def test_a_damaged_file_is_made_anew(installed: InstalledWeights) -> None:
    """One byte is enough."""
    path = convert_kept(NAME)
    before = path.read_bytes()
    path.write_bytes(before[:-1] + b"?")
    assert converted_path(NAME) is None
    assert convert_kept(NAME).read_bytes() == before
    assert _left() == [path.parent.name]


@pytest.mark.slow
def test_the_companion_is_made_within_shipped_ranges(
    installed: InstalledWeights, tmp_path: Path
) -> None:
    """Without one photo of the person's.

    Ranges of another network are refused, and nothing is kept.
    """
    activations = tiny_activations(installed, tmp_path)
    write_activations(installed.source.activations, activations)
    path = convert_kept(NAME)
    assert companion_of(path) == eight_bit_path(path)
    assert cannot_overflow(eight_bit_path(path))
    of_another = {f"other.{name}": values for name, values in activations.ranges.items()}
    write_activations(installed.source.activations, replace(activations, ranges=of_another))
    with pytest.raises(ModelError, match="ranges are those of another network"):
        convert_kept(NAME)
    assert _left() == [path.parent.name], "what was made before stays"


@pytest.mark.slow
def test_a_head_cuts_the_embedding(installed: InstalledWeights) -> None:
    """Two maps pooled, cut to five numbers; a head of another width is refused."""
    widths = EfficientNetLite(LITE_VARIANTS[NAME]).map_widths
    width = widths[2] + widths[7]
    generator = np.random.default_rng(0)
    mean, matrix = generator.standard_normal(width), generator.standard_normal((5, width))
    np.savez(installed.source.head, maps=[2, 7], mean=mean.astype("f2"), matrix=matrix.astype("f2"))
    with pytest.raises(ModelError, match="card is one of another backbone"):
        convert_kept(NAME)
    card = installed.source.model.with_suffix(".card.json")
    card.write_text(card.read_text().replace(str(installed.card.embedding_width), "5"))
    files = model_files(convert_kept(NAME))
    assert (
        BackboneSession(files.backbone, files.card, CPU_CHOICE)
        .embed(trial_squares(files.card))
        .shape[1]
        == 5
    )
    np.savez(installed.source.head, maps=[2], mean=mean, matrix=matrix)
    with pytest.raises(ModelError, match="head is one of another backbone"):
        convert_kept(NAME)


def test_a_file_that_does_something_else_is_refused(
    installed: InstalledWeights, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Writing it layer by layer is compared, not believed."""
    monkeypatch.setattr(convert, "_MOST_ACTIVE", 2.0)
    with pytest.raises(ModelError, match="does not match the torch model"):
        convert_kept(NAME)
    assert _left() == []


@pytest.mark.slow
@pytest.mark.parametrize("step", range(len(STEPS)))
def test_cancelled_at_any_step(installed: InstalledWeights, step: int) -> None:
    """Nothing is left, and the next time it is made."""
    cancel = CancelToken()
    with pytest.raises(Cancelled):
        convert_kept(
            NAME,
            on_progress=lambda as_full_disk: cancel.cancel() if as_full_disk.done == step else None,
            cancel=cancel,
        )
    assert _left() == []
    assert convert_kept(NAME).is_file()


@pytest.mark.slow
def test_a_full_disk_leaves_nothing(installed: InstalledWeights) -> None:
    """With what to do about it."""
    convert_kept(NAME).unlink()
    with full_disk_after(2_000), pytest.raises(Exception, match=r"disk is full|cannot be saved"):
        convert_kept(NAME)
    assert converted_path(NAME) is None
