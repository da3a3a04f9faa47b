"""Every reason to refuse an ONNX file: damage, hostile files, networks that embed nothing."""

import os
import random
import shutil
from pathlib import Path
from typing import Any

import onnx
import pytest
from onnx import TensorProto, helper

from engine.backbones.model_files import width_agnostic_propagation
from engine.backbones.onnx_examining import examine
from engine.backbones.onnx_structure import check_external, read_structure
from engine.collection.models import find_model
from engine.errors import ModelError
from tests.support import onnx_models as models
from tests.support.onnx_examination import MOST_BYTES, examined, refusal


def encoded_varint(value: int) -> bytes:
    """A number as protocol buffers have it, seven bits in each byte, the lowest first."""
    found = bytearray()
    while value > 0x7F:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*found, value])


def encoded_field(number: int, content: bytes) -> bytes:
    """A field of a protocol buffer that holds bytes."""
    return encoded_varint(number << 3 | 2) + encoded_varint(len(content)) + content


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "empty"),
        (b"\x89PNG\r\n\x1a\n" + b"\0" * 100, "PNG"),
        (b"PK\x03\x04" + b"\0" * 100, "zip archive"),
        (b"\x80\x02\x8a\nl\xfc" + b"\0" * 100, "pickle"),
        (b"<!DOCTYPE html>", "web page"),
        (b"version https://git-lfs.github.com/spec/v1", "Git LFS"),
        (b"\x10\0\0\0\0\0\0\0" + b'{"weight"', "safetensors"),
        (b"\x08\x07", "no graph"),
        (b"\xff" * 64, "damaged"),
        (b"hello, I am a text", "damaged"),
    ],
)
def test_no_onnx_file_at_all(tmp_path: Path, content: bytes, message: str) -> None:
    """The reason says what the file is instead, where that can be found out."""
    path = tmp_path / "wrong.onnx"
    path.write_bytes(content)
    assert message in refusal(path)


def test_no_file_and_a_folder(tmp_path: Path) -> None:
    """Both are named."""
    assert "not there" in refusal(tmp_path / "gone.onnx")
    assert "folder" in refusal(tmp_path)


@pytest.mark.parametrize("share", [0.02, 0.3, 0.7, 0.999])
def test_a_file_that_is_cut_short(tmp_path: Path, share: float) -> None:
    """Wherever a download broke off, the file is refused in one line."""
    path = models.write_vectors(tmp_path / "cut.onnx")
    path.write_bytes(path.read_bytes()[: int(share * path.stat().st_size)])
    assert "cut.onnx" in refusal(path)


@pytest.mark.slow
def test_damaged_bytes_never_get_past(tmp_path: Path) -> None:
    """A damaged file is refused in words or still does what it should.

    Nothing else ever comes out.
    """
    path = models.write_vectors(tmp_path / "bits.onnx")
    whole, refused = path.read_bytes(), 0
    for place in range(0, len(whole), 41):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :])
        try:
            examine(path, most_bytes=MOST_BYTES)
        except ModelError:
            refused += 1
    assert refused > 0


@pytest.mark.parametrize("seed", range(3))
def test_random_bytes_never_get_past_the_reader(tmp_path: Path, seed: int) -> None:
    """Bits turned over, huge numbers put in, pieces cut out.

    The file is read, or refused in words, and at once.
    """
    draw = random.Random(seed)
    path = models.write_external(tmp_path / "damaged.onnx")
    whole, reasons = path.read_bytes(), list[str]()
    numbers = [encoded_varint(1 << bits) for bits in (7, 31, 32, 63, 64, 69)]
    for _ in range(300):
        place, length = draw.randrange(len(whole)), draw.randrange(20)
        put_in = draw.choice(
            [b"", bytes([whole[place] ^ 1 << draw.randrange(8)]), draw.choice(numbers)]
        )
        path.write_bytes(whole[:place] + put_in + whole[place + (len(put_in) or length) :])
        try:
            check_external(path, read_structure(path))
        except ModelError as error:
            reasons.append(str(error))
    assert 0 < len(reasons) < 300
    assert max(map(len, reasons)) < 500


def test_graphs_in_graphs_without_end(tmp_path: Path) -> None:
    """A thousand branches inside one another are refused in words, and exhaust nothing."""
    graph = encoded_field(1, encoded_field(4, b"Relu"))
    for _ in range(1000):
        branch = encoded_field(1, b"then_branch") + encoded_field(6, graph)
        graph = encoded_field(1, encoded_field(4, b"If") + encoded_field(5, branch))
    path = tmp_path / "deep.onnx"
    path.write_bytes(encoded_field(7, graph))
    assert "damaged" in refusal(path)


@pytest.mark.parametrize("bytes_claimed", [2**31 - 1, 2**40])
def test_a_size_that_is_only_claimed(tmp_path: Path, bytes_claimed: int) -> None:
    """Weights of two gigabytes and more, of which ten bytes are there.

    Nothing is reserved for the rest.
    """
    path = tmp_path / "claims.onnx"
    path.write_bytes(encoded_varint(7 << 3 | 2) + encoded_varint(bytes_claimed) + b"0123456789")
    assert "damaged" in refusal(path)


@pytest.mark.parametrize(
    "location", ["../outside.bin", "/etc/hostname", "a/../../outside.bin", "C:\\x.bin", ""]
)
def test_external_data_outside_the_folder(tmp_path: Path, location: str) -> None:
    """A model may not read what lies elsewhere."""
    (tmp_path / "outside.bin").write_bytes(b"secret")
    (tmp_path / "inside").mkdir()
    models.write_external(tmp_path / "inside" / "sly.onnx", location=location, write_data=False)
    assert "outside its folder" in refusal(tmp_path / "inside" / "sly.onnx")


def test_external_data_by_a_link_outside(tmp_path: Path) -> None:
    """A link inside the folder leads out of it."""
    (tmp_path / "outside.bin").write_bytes(b"\0" * 10_000)
    (tmp_path / "inside").mkdir()
    (tmp_path / "inside" / "weights.bin").symlink_to(tmp_path / "outside.bin")
    models.write_external(tmp_path / "inside" / "sly.onnx", write_data=False)
    assert "outside its folder" in refusal(tmp_path / "inside" / "sly.onnx")


@pytest.mark.skipif(os.name != "posix", reason="links that anybody may make")
def test_external_data_that_cannot_be_looked_at(tmp_path: Path) -> None:
    """A link to itself, and a name that no system takes."""
    (tmp_path / "weights.bin").symlink_to("weights.bin")
    assert "cannot be read" in refusal(
        models.write_external(tmp_path / "round.onnx", write_data=False)
    )
    path = models.write_external(tmp_path / "long.onnx", location="a" * 5000, write_data=False)
    assert "cannot be read" in refusal(path)


def test_external_data_by_another_number(tmp_path: Path) -> None:
    """A place is one of several choices, named by 32 bits.

    The runtime takes 2^32 + 1 for 1, and so does the reader.
    """
    path = models.write_external(tmp_path / "sly.onnx", location="../outside.bin", write_data=False)
    model = onnx.load(str(path), load_external_data=False)
    tensor = model.graph.initializer[0].SerializeToString()
    place, other = (
        encoded_varint(14 << 3) + b"\1",
        encoded_varint(14 << 3) + encoded_varint(2**32 + 1),
    )
    assert tensor.count(place) == 1
    del model.graph.initializer[:]
    graph = model.graph.SerializeToString() + encoded_field(5, tensor.replace(place, other))
    model.ClearField("graph")
    path.write_bytes(model.SerializeToString() + encoded_field(7, graph))
    assert "outside its folder" in refusal(path)


def test_external_data_missing_or_short(tmp_path: Path) -> None:
    """The missing file is named; a short one too."""
    path = models.write_external(tmp_path / "half.onnx")
    data = tmp_path / "weights.bin"
    data.write_bytes(data.read_bytes()[:-1])
    assert "truncated" in refusal(path)
    data.unlink()
    assert "weights.bin" in refusal(path)


def test_a_name_that_is_no_text(tmp_path: Path) -> None:
    """The runtime opens such a file, and stumbles over the name of an axis."""
    path = models.write_vectors(tmp_path / "bytes.onnx", batch="rows!")
    whole = path.read_bytes()
    inputs, outputs = whole.index(b"rows!"), whole.rindex(b"rows!")
    for place in (inputs, outputs):
        path.write_bytes(whole[:place] + b"\xff" + whole[place + 1 :])
        assert "not text" in refusal(path)


def test_nothing_in_it(tmp_path: Path) -> None:
    """A graph without operators computes nothing."""
    assert "has no operators" in refusal(models.write_model(tmp_path / "empty.onnx", [], {}))


def test_a_reason_is_never_endless(tmp_path: Path) -> None:
    """Thousands of unknown operators, one with a name of a megabyte.

    Some are named, the rest counted.
    """
    names = ["A" * 1_000_000, *(f"Strange{number:04}" for number in range(2000))]
    nodes = [
        helper.make_node(name, ["images"], [f"of {name[:20]}"], domain="elsewhere")
        for name in names
    ]
    reason = refusal(
        models.write_model(tmp_path / "strange.onnx", nodes, {}, domains=["elsewhere"])
    )
    assert "Strange0003 and 1,996 more of elsewhere" in reason
    assert len(reason) < 500


@pytest.mark.parametrize(
    ("inputs", "kind", "message"),
    [
        ({"images": ("b", 3, 32, 32), "text": ("b", 77)}, TensorProto.FLOAT, "several inputs"),
        ({"images": ("b", 3)}, TensorProto.FLOAT, "not an image"),
        ({"images": ("b", 3, 32, 32, 32)}, TensorProto.FLOAT, "not an image"),
        ({"images": ("b", 5, 32, 32)}, TensorProto.FLOAT, "3 channels, or 1"),
        ({"images": ("b", 3, 32, 32)}, TensorProto.INT64, "not an image"),
        ({"images": ("b", 3, 32, 48)}, TensorProto.FLOAT, "not square"),
        ({"images": ("b", 3, 100_000, 100_000)}, TensorProto.FLOAT, "input side"),
        ({"images": ("b", 3, 2, 2)}, TensorProto.FLOAT, "input side"),
    ],
)
def test_inputs_that_are_refused(
    tmp_path: Path, inputs: dict[str, Any], kind: int, message: str
) -> None:
    """Nothing but one square image, in colours or grey, is an input of a backbone."""
    nodes = [helper.make_node("Shape", ["images"], ["shape"])]
    path = models.write_model(
        tmp_path / "input.onnx",
        nodes,
        {"shape": (TensorProto.INT64, (None,))},
        inputs=inputs,
        kind=kind,
    )
    assert message in refusal(path)


@pytest.mark.parametrize(
    ("node", "shape", "kind", "message"),
    [
        (
            helper.make_node("ReduceMean", ["features"], ["made"], keepdims=0),
            (),
            TensorProto.FLOAT,
            "one number",
        ),
        (
            helper.make_node("ReduceMean", ["features"], ["made"], axes=[1, 2, 3], keepdims=0),
            ("b",),
            TensorProto.FLOAT,
            "one number",
        ),
        (
            helper.make_node("ReduceMean", ["features"], ["made"], axes=[0, 2, 3], keepdims=0),
            (12,),
            TensorProto.FLOAT,
            "one number",
        ),
        (
            helper.make_node("ReduceMean", ["features"], ["made"], axes=[1], keepdims=0),
            ("b", None, None),
            TensorProto.FLOAT,
            "",
        ),
        (
            helper.make_node("Shape", ["features"], ["made"]),
            (4,),
            TensorProto.INT64,
            "int64 values, such as labels",
        ),
        (
            helper.make_node("ArgMax", ["features"], ["made"], axis=1, keepdims=0),
            ("b", None, None),
            TensorProto.INT64,
            "int64 values, such as labels",
        ),
        (
            helper.make_node("NonZero", ["features"], ["made"]),
            (4, None),
            TensorProto.INT64,
            "labels",
        ),
    ],
)
def test_outputs_that_are_refused(
    tmp_path: Path, node: Any, shape: Any, kind: int, message: str
) -> None:
    """A scalar, labels, or a number for each image are no embedding.

    A map of places is at least a vector for each.
    """
    path = models.write_output(tmp_path / "output.onnx", node, shape, kind=kind)
    if message:
        assert message in refusal(path)
    else:
        assert examined(path).width > 1


def test_a_list_is_no_embedding(tmp_path: Path) -> None:
    """A sequence of arrays has no width."""
    nodes, initializers = models.convolution()
    nodes.append(helper.make_node("SequenceConstruct", ["features"], ["made"]))
    path = models.write_model(tmp_path / "list.onnx", nodes, {}, initializers=initializers)
    model = onnx.load(str(path))
    model.graph.output.append(
        helper.make_tensor_sequence_value_info("made", TensorProto.FLOAT, None)
    )
    path.write_bytes(model.SerializeToString())
    assert "a list, not an array" in refusal(path)


def test_a_width_that_changes_from_image_to_image(tmp_path: Path) -> None:
    """As many values as are above zero: no two images have the same width."""
    nodes, initializers = models.convolution()
    nodes += [
        helper.make_node("NonZero", ["features"], ["places"]),
        helper.make_node("Cast", ["places"], ["numbers"], to=TensorProto.FLOAT),
        helper.make_node("ReduceSum", ["numbers"], ["made"], keepdims=1, noop_with_empty_axes=1),
        helper.make_node("Unsqueeze", ["made", "front"], ["embeddings"]),
    ]
    initializers.append(helper.make_tensor("front", TensorProto.INT64, [1], [0]))
    path = models.write_model(
        tmp_path / "changing.onnx",
        nodes,
        {"embeddings": (TensorProto.FLOAT, None)},
        initializers=initializers,
    )
    assert "width changes" in refusal(path)


def test_a_batch_that_is_baked_in(tmp_path: Path) -> None:
    """The file says any number of images, and fails with two."""
    nodes, initializers = models.convolution()
    nodes.append(helper.make_node("Reshape", ["features", "shape"], ["embeddings"]))
    initializers.append(
        helper.make_tensor("shape", TensorProto.INT64, [2], [1, models.WIDTH * 56 * 56 // 49])
    )
    path = models.write_model(
        tmp_path / "baked.onnx",
        nodes,
        {"embeddings": (TensorProto.FLOAT, ("b", None))},
        initializers=initializers,
    )
    assert "cannot be run" in refusal(path)
    nodes[-1] = helper.make_node("Reshape", ["small", "shape"], ["embeddings"])
    nodes.insert(-1, models.average(target="small"))
    initializers[-1] = helper.make_tensor("shape", TensorProto.INT64, [2], [1, models.WIDTH])
    models.write_model(
        path, nodes, {"embeddings": (TensorProto.FLOAT, ("b", None))}, initializers=initializers
    )
    assert "two images at once" in refusal(path)


def test_operators_that_are_not_there(tmp_path: Path) -> None:
    """Custom operators, unknown ones, and a file that is too new each have their reason."""
    own = models.write_with_node(tmp_path / "own.onnx", "Sparkle", domain="com.example")
    assert "Sparkle of com.example" in refusal(own)
    assert "operators that ONNX Runtime does not have" in refusal(
        models.write_with_node(tmp_path / "a.onnx", "Sparkle")
    )
    newer = models.write_with_node(tmp_path / "newer.onnx", "Relu", opset=999)
    assert "newer ONNX Runtime" in refusal(newer)
    newest = models.write_vectors(tmp_path / "newest.onnx", ir_version=99)
    assert "newer ONNX Runtime" in refusal(newest)


def test_operators_that_the_file_defines_itself(tmp_path: Path) -> None:
    """A function of the file's own is no missing operator."""
    function = helper.make_function(
        "com.example",
        "Double",
        ["x"],
        ["y"],
        [helper.make_node("Add", ["x", "x"], ["y"])],
        [helper.make_opsetid("", models.OPSET)],
    )
    nodes, initializers = models.convolution()
    nodes += [
        models.average(target="pooled"),
        helper.make_node("Double", ["pooled"], ["e"], domain="com.example"),
    ]
    path = models.write_model(
        tmp_path / "function.onnx",
        nodes,
        {"e": (TensorProto.FLOAT, ("b", models.WIDTH))},
        initializers=initializers,
        domains=["com.example"],
        functions=[function],
    )
    assert examined(path).width == models.WIDTH


def test_propagation_of_another_backbone(tmp_path: Path) -> None:
    """Propagation beside the file must be of its width or of any."""
    path = models.write_vectors(tmp_path / "net.onnx")
    beside = path.with_suffix(".propagation.onnx")
    shutil.copy(find_model().propagation, beside)
    assert "trained for another model" in refusal(path)
    shutil.copy(width_agnostic_propagation(), beside)
    assert examined(path).width == models.WIDTH
    beside.write_bytes(b"no propagation")
    assert "propagation file cannot be loaded" in refusal(path)


def test_a_file_that_is_too_large(tmp_path: Path) -> None:
    """The limit counts external data too."""
    path = models.write_external(tmp_path / "large.onnx")
    with pytest.raises(ModelError, match="too large"):
        examine(path, most_bytes=path.stat().st_size + 10)
