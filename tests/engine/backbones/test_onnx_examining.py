"""What is found out about a sound ONNX file; here in this process, on small files."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engine.backbones.messages import GUESS_NOTICE, OnnxFacts
from engine.backbones.preprocessing import (
    PREPROCESSING_KEY,
    PRESETS,
    Preprocessing,
    preset,
    stamp_of,
)
from engine.backbones.trial import card_for, chosen_preprocessing
from engine.errors import InputError, ModelError
from engine.model_card import write_card
from engine.worker.protocol import encode, read
from tests.support import onnx_models as models
from tests.support.backbones import tiny_card
from tests.support.onnx_examination import examined, refusal

WRONG_ON_A_CARD: tuple[dict[str, Any], ...] = (
    {"name": 5},
    {"output": None},
    {"figures": []},
    {"figures": {"speed": "fast"}},
    {"unit_length": "no"},
    {"temperature": "warm"},
    {"temperature": -1},
    {"shrinkage": None},
    {"mean": [1e400, 0, 0]},
)


@pytest.mark.parametrize(
    ("write", "output", "pooling", "layout"),
    [
        (models.write_vectors, "embeddings", "none", "nchw"),
        (models.write_map, "features", "mean", "nchw"),
        (models.write_tokens, "last_hidden_state", "mean", "nchw"),
        (models.write_channels_last, "embeddings", "none", "nhwc"),
        (models.write_grey, "embeddings", "none", "nchw"),
        (models.write_half, "embeddings", "none", "nchw"),
        (models.write_scores_and_features, "pooled_features", "none", "nchw"),
        (models.write_external, "embeddings", "none", "nchw"),
    ],
)
def test_sound_files(
    tmp_path: Path, write: Callable[[Path], Path], output: str, pooling: str, layout: str
) -> None:
    """Layout, the most likely output, how it is pooled, and its width are found out."""
    facts = examined(write(tmp_path / "my net (2).onnx"))
    found = facts.preprocessing
    assert (found.output, found.pooling, found.layout, facts.width) == (
        output,
        pooling,
        layout,
        models.WIDTH,
    )
    assert (facts.name, facts.opset, facts.image_input.fixed_batch) == (
        "my-net-2",
        models.OPSET,
        None,
    )
    assert found.input_side == (facts.image_input.fixed_side or 224)
    assert not facts.is_declared
    assert any("guess" in notice for notice in facts.notices)
    assert read(encode(1, facts)).message(OnnxFacts) == facts


def test_one_image_at_a_time(tmp_path: Path) -> None:
    """A batch fixed to 1 is taken, with a notice; a larger one is refused."""
    facts = examined(models.write_vectors(tmp_path / "one.onnx", side=models.SIDE, batch=1))
    assert (facts.image_input.fixed_batch, facts.image_input.fixed_side) == (1, models.SIDE)
    assert any("one image at a time" in notice for notice in facts.notices)
    models.write_vectors(tmp_path / "eight.onnx", side=models.SIDE, batch=8)
    assert "only batches of one size" in refusal(tmp_path / "eight.onnx")


def test_what_was_chosen_is_no_guess(tmp_path: Path) -> None:
    """A preset or all of its numbers leave nothing to guess; a part of them leaves the rest."""
    facts = examined(models.write_vectors(tmp_path / "net.onnx"))
    assert facts.with_chosen({}) == facts
    partly = facts.with_chosen({"mean": (0.5, 0.5, 0.5)})
    assert partly.why == f"{facts.why}; the chosen settings are used"
    assert (partly.is_declared, partly.notices) == (False, facts.notices)
    chosen = facts.with_chosen(dict(preset("clip")))
    assert (chosen.why, chosen.is_declared) == ("CLIP mean and std, as chosen", True)
    assert set(facts.notices) - set(chosen.notices) == {GUESS_NOTICE}
    as_rgb = {name: value for name, value in preset("caffe").items() if name != "channel_order"}
    assert "BGR" not in facts.with_chosen(as_rgb).why
    own = facts.with_chosen({"mean": (0.5, 0.4, 0.3), "std": (1.0, 1.0, 1.0), "value_scale": 255.0})
    assert own.why == "mean 0.5, 0.4, 0.3 and std 1, 1, 1 of 255, as chosen"


def test_a_classifier_is_distinguished_from_features(tmp_path: Path) -> None:
    """Labels cannot be embeddings and say why.

    Scores can, as a second choice, and then there is a notice.
    """
    path = models.write_scores_and_features(tmp_path / "classifier.onnx")
    facts = examined(path)
    assert [output.name for output in facts.outputs] == ["pooled_features", "logits", "labels"]
    assert facts.outputs[2].refused
    assert chosen_preprocessing(facts, {"output": "logits"}).output == "logits"
    with pytest.raises(ModelError, match="labels"):
        chosen_preprocessing(facts, {"output": "labels"})
    with pytest.raises(ModelError, match="no such output"):
        chosen_preprocessing(facts, {"output": "nothing"})
    scores = card_for(path, facts, chosen_preprocessing(facts, {"output": "logits"}))
    assert (scores.output, scores.embedding_width) == ("logits", 5)


def test_preprocessing_from_a_card_beside(tmp_path: Path) -> None:
    """A card beside the file is believed, with priors and texts; its side yields to the file's."""
    path = models.write_vectors(tmp_path / "own.onnx", side=models.SIDE)
    card = replace(
        tiny_card(width=models.WIDTH),
        name="given",
        channel_order="bgr",
        temperature=0.3,
        licence="ours",
        input_side=64,
    )
    write_card(path, card)
    facts = examined(path)
    assert (facts.is_declared, facts.name, facts.licence) == (True, "given", "ours")
    assert (facts.preprocessing.channel_order, facts.preprocessing.input_side) == (
        "bgr",
        models.SIDE,
    )
    assert any("64 pixels" in notice for notice in facts.notices)
    made = card_for(path, facts, facts.preprocessing, name="mine")
    assert (made.name, made.temperature, made.licence, made.input_side) == (
        "mine",
        0.3,
        "ours",
        models.SIDE,
    )


def test_a_bad_card_beside_is_named(tmp_path: Path) -> None:
    """A card that is no card, or says what cannot be, is refused with its name."""
    path = models.write_vectors(tmp_path / "own.onnx")
    beside = path.with_suffix(".card.json")
    for text in (
        "{",
        "{}",
        json.dumps({**vars(tiny_card()), "layout": "hwcn"}),
        json.dumps(vars(tiny_card(side=4000))),
        "[" * 100_000,
        *(json.dumps({**vars(tiny_card()), **wrong}) for wrong in WRONG_ON_A_CARD),
    ):
        beside.write_text(text, encoding="utf-8")
        assert "own.card.json" in refusal(path)


def test_a_card_of_another_network(tmp_path: Path) -> None:
    """An output that the file does not have is not quietly another one."""
    path = models.write_vectors(tmp_path / "own.onnx")
    write_card(path, replace(tiny_card(width=models.WIDTH), output="pooled"))
    assert "expected embeddings, found “pooled”" in refusal(path)


def test_preprocessing_from_the_file_itself(tmp_path: Path) -> None:
    """A file that this program stamped holds its preprocessing, wherever it was moved."""
    path = models.write_vectors(tmp_path / "moved.onnx")
    card = replace(
        tiny_card(width=models.WIDTH), value_scale=255.0, channel_order="bgr", unit_length=True
    )
    with path.open("ab") as file:
        file.write(stamp_of(card))
    facts = examined(path)
    assert facts.is_declared
    assert (facts.preprocessing.value_scale, facts.preprocessing.channel_order) == (255.0, "bgr")
    for broken in ("[" * 100_000, "5", '{"unit_length": "no"}'):
        models.write_vectors(path, notes={PREPROCESSING_KEY: broken})
        assert not examined(path).is_declared


def test_preprocessing_from_a_hub_file(tmp_path: Path) -> None:
    """`preprocessor_config.json` beside the file is translated; a broken one is named."""
    path = models.write_vectors(tmp_path / "hub.onnx")
    settings = {
        "do_center_crop": True,
        "crop_size": {"height": 64, "width": 64},
        "size": {"shortest_edge": 80},
        "do_rescale": True,
        "rescale_factor": 1 / 255,
        "do_normalize": True,
        "image_mean": [0.5, 0.4, 0.3],
        "image_std": [0.2, 0.2, 0.2],
    }
    config = tmp_path / "preprocessor_config.json"
    config.write_text(json.dumps(settings), encoding="utf-8")
    found = examined(path).preprocessing
    assert (found.input_side, found.resize_share, found.value_scale) == (64, 0.8, 1.0)
    assert (found.mean, found.std) == ((0.5, 0.4, 0.3), (0.2, 0.2, 0.2))
    config.write_text(
        json.dumps({"size": 64, "do_rescale": False, "do_normalize": False}), encoding="utf-8"
    )
    assert (examined(path).preprocessing.value_scale, examined(path).preprocessing.input_side) == (
        255.0,
        64,
    )
    endless = (
        '{"size": 0}',
        '{"rescale_factor": 1e400}',
        '{"size": {"shortest_edge": 1e400}}',
        "[" * 100_000,
    )
    for broken in (
        *endless,
        "{",
        "[]",
        '{"size": {"height": 3, "width": 4}}',
        '{"image_mean": [1], "image_std": [1]}',
    ):
        config.write_text(broken, encoding="utf-8")
        assert "preprocessor_config.json" in refusal(path)


def test_usual_preprocessing_of_what_wrote_it(tmp_path: Path) -> None:
    """Files from TensorFlow and CLIP have habits of their own."""
    facts = examined(models.write_channels_last(tmp_path / "tensorflow.onnx"))
    assert facts.preprocessing.mean == PRESETS["minus-one-to-one"].mean
    assert "TensorFlow" in facts.why
    assert (
        examined(models.write_vectors(tmp_path / "my-clip.onnx")).preprocessing.mean
        == PRESETS["clip"].mean
    )


def test_what_the_person_chose_counts_more(tmp_path: Path) -> None:
    """Chosen fields replace what was guessed.

    A side that the file does not take is refused, as is nonsense.
    """
    facts = examined(models.write_vectors(tmp_path / "fixed.onnx", side=models.SIDE))
    assert chosen_preprocessing(facts, preset("caffe")).channel_order == "bgr"
    with pytest.raises(ModelError, match="one size only"):
        chosen_preprocessing(facts, {"input_side": 64})
    for wrong in (
        {"std": (0, 1, 1)},
        {"layout": "x"},
        {"mean": (1,)},
        {"input_side": 5000},
        {"speed": 1},
    ):
        with pytest.raises(InputError):
            chosen_preprocessing(facts, wrong)
    with pytest.raises(InputError, match="no such preset"):
        preset("none")
    with pytest.raises(InputError):
        Preprocessing(resize_share=2)
