"""What is found out about a detector's file, and why others are refused."""

from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from engine.detection.detector import ObjectDetector, open_detector
from engine.detection.examining import examine_detector
from engine.detection.output_forms import CLASS_COLUMNS, OBJECTNESS_ROWS
from engine.errors import ModelError, UsageError
from tests.support import onnx_models as models
from tests.support.detector_networks import NAMES, SIDE, picture_of_discs, write_detector
from tests.support.detectors import LIMITS, examined_detector

RAW_GRID = 3 * ((SIDE // 8) ** 2 + (SIDE // 16) ** 2)


def refusal(path: Path, **wanted: object) -> str:
    """Why a file is refused."""
    with pytest.raises(ModelError) as refused:
        examined_detector(path, **wanted)
    return str(refused.value)


def write_constant(
    path: Path, values: np.ndarray, *, name: str = "output", notes: dict[str, str] | None = None
) -> Path:
    """A network that answers every picture with the same values."""
    nodes = [
        helper.make_node("ReduceMean", ["images"], ["mean"], keepdims=0),
        helper.make_node("Mul", ["mean", "none"], ["zero"]),
        helper.make_node("Add", ["values", "zero"], [name]),
    ]
    constants = [
        numpy_helper.from_array(values.astype(np.float32), "values"),
        numpy_helper.from_array(np.array(0, dtype=np.float32), "none"),
    ]
    return models.write_model(
        path,
        nodes,
        {name: (TensorProto.FLOAT, values.shape)},
        inputs={"images": (1, 3, SIDE, SIDE)},
        initializers=constants,
        notes=notes,
    )


def spread_grid(values: int, count: int = RAW_GRID) -> np.ndarray:
    """Boxes (1, count, values) of 8 pixels all over the input, with scores of 0."""
    found = np.zeros((1, count, values), dtype=np.float32)
    found[..., :2] = np.linspace(4, SIDE - 4, count)[None, :, None]
    found[..., 2:4] = 8
    return found


@pytest.mark.slow
def test_names_and_size_in_a_child(tmp_path: Path) -> None:
    """The facts come back from the process that examined the file."""
    path = write_detector(tmp_path / "discs.onnx", "yolov8")
    facts = examine_detector(path, limits=LIMITS)
    assert facts == examined_detector(path)
    assert (facts.names, facts.takes.size, facts.takes.stride) == (
        ("white", "red"),
        (SIDE, SIDE),
        0,
    )
    assert [facts.category(number) for number in (0, 1, 7, -1)] == [
        "white",
        "red",
        "class 7",
        "class -1",
    ]


@pytest.mark.slow
def test_opening_with_names(tmp_path: Path) -> None:
    """A person's file of names, device and threshold in one call."""
    path, names = write_detector(tmp_path / "discs.onnx"), tmp_path / "names.txt"
    names.write_text("cell\nplatelet\n", encoding="utf-8")
    detector = open_detector(path, device="cpu", threshold=0.5, names=names)
    (found,) = detector.detect([picture_of_discs((SIDE, SIDE), [(99, 99, 20, True)])])
    assert [each.category for each in found] == ["platelet"]
    assert (detector.threshold, detector.device_name, detector.reason) == (0.5, "CPU", "")
    with pytest.raises(UsageError, match="no such device"):
        open_detector(path, device="tpu")


@pytest.mark.slow
def test_any_size_by_metadata(tmp_path: Path) -> None:
    """The side is that of the metadata, else the usual one, of MegaDetector 1280.

    A person's comes first.
    """
    path, sides = tmp_path / "discs.onnx", ("height", "width")
    for notes, expected in (
        ({"imgsz": "[512, 384]", "stride": "32"}, (512, 32)),
        ({}, (640, 32)),
        ({"stride": "64"}, (1280, 64)),
        ({"imgsz": "[99999, 1]", "stride": "0"}, (640, 32)),
    ):
        write_detector(path, "yolov8", sides=sides, notes={"names": NAMES, **notes})
        takes = examined_detector(path).takes
        assert (takes.size[0], takes.stride) == expected
    assert examined_detector(path, side=800).takes.size == (800, 800)


@pytest.mark.slow
def test_layouts_and_types(tmp_path: Path) -> None:
    """Channels first and last, one picture without an axis of batches, bytes."""
    path = tmp_path / "discs.onnx"
    for layout in ("nchw", "nhwc", "chw"):
        write_detector(path, "torchvision", layout=layout, kind=TensorProto.UINT8)
        takes = examined_detector(path).takes
        assert (takes.layout, takes.kind) == (layout, "tensor(uint8)")


@pytest.mark.slow
def test_a_persons_names_come_first(tmp_path: Path) -> None:
    """Where there are as many as categories."""
    path = write_detector(tmp_path / "discs.onnx", "yolov8")
    assert examined_detector(path, names=("fox", "hare")).names == ("fox", "hare")
    line = refusal(path, names=("a", "b", "c"))
    assert "the names do not fit the detector's categories" in line
    assert "expected 2 or 1, found 3 names" in line


@pytest.mark.slow
def test_the_form_without_names(tmp_path: Path) -> None:
    """Three boxes at each place are YOLOv5's, one with its values in rows is YOLOv8's.

    Others may be both.
    """
    path = tmp_path / "discs.onnx"
    for form, expected in (("yolov5", OBJECTNESS_ROWS), ("yolov8", CLASS_COLUMNS)):
        facts = examined_detector(write_detector(path, form, notes={}))
        assert (facts.form.kind, facts.form.categories, facts.names) == (expected, 2, ())
    line = refusal(write_detector(path, "yolov8-turned", notes={}))
    assert "may have two forms" in line
    assert "give the names" in line.lower()


def test_one_class_and_boxes_of_a_grid(tmp_path: Path) -> None:
    """Six numbers are YOLOv5's with one class if spread over the whole input, else chosen boxes."""
    path = tmp_path / "six.onnx"
    assert examined_detector(write_constant(path, spread_grid(6))).form.kind == OBJECTNESS_ROWS
    assert examined_detector(write_constant(path, np.zeros((1, RAW_GRID, 6)))).form.kind == "chosen"
    assert examined_detector(write_constant(path, np.zeros((1, 300, 6)))).form.kind == "chosen"


def test_what_is_no_detector(tmp_path: Path) -> None:
    """The outputs that were found, and the forms that are known, stand in the error."""
    line = refusal(models.write_vectors(tmp_path / "vectors.onnx"))
    assert "embeddings (1, 12)" in line
    assert "YOLOv5" in line
    assert "torchvision" in line
    task = write_detector(tmp_path / "segment.onnx", notes={"task": "segment"})
    assert "a model for the task “segment”" in refusal(task)
    (tmp_path / "text.onnx").write_text("detector")
    assert "not an ONNX file" in refusal(tmp_path / "text.onnx")


def test_inputs_that_are_not_a_detectors(tmp_path: Path) -> None:
    """A second one that nobody knows, no image, batches of four."""
    nodes, constants = models.convolution()
    nodes.append(helper.make_node("Mul", ["features", "other"], ["output"]))
    outputs = {"output": (TensorProto.FLOAT, None)}
    inputs = {"images": ("batch", 3, 64, 64), "other": (1,)}
    two = models.write_model(
        tmp_path / "two.onnx", nodes, outputs, inputs=inputs, initializers=constants
    )
    assert "inputs are not those of a detector" in refusal(two)
    assert "batches of one size" in refusal(write_detector(tmp_path / "four.onnx", batch=4))


def test_grids_without_the_last_step(tmp_path: Path) -> None:
    """Offsets instead of pixels are refused, and so are scores beyond 1."""
    path = tmp_path / "raw.onnx"
    offsets = spread_grid(7)
    offsets[..., :2] /= SIDE
    assert "not in pixels of its input" in refusal(write_constant(path, offsets))
    logits = spread_grid(7)
    logits[..., 4:] = 9
    facts = examined_detector(write_constant(path, logits))
    with pytest.raises(ModelError, match=r"scores cannot be used.*found 81"):
        ObjectDetector(path, facts).detect([np.zeros((64, 64, 3), dtype=np.uint8)])


def test_no_numbers(tmp_path: Path) -> None:
    """They are refused rather than dropped."""
    values = spread_grid(7)
    facts = examined_detector(write_constant(tmp_path / "a.onnx", values))
    values[0, 5, 4] = np.nan
    write_constant(tmp_path / "a.onnx", values)
    with pytest.raises(ModelError, match="not numbers"):
        ObjectDetector(tmp_path / "a.onnx", facts).detect([np.zeros((64, 64, 3), dtype=np.uint8)])


def test_thresholds(tmp_path: Path) -> None:
    """Those that make no sense are refused."""
    path = write_detector(tmp_path / "discs.onnx")
    facts = examined_detector(path)
    for threshold in (0.0, 1.5, float("nan")):
        with pytest.raises(UsageError, match="threshold cannot be used"):
            ObjectDetector(path, facts, threshold=threshold)


def test_at_most_so_many_boxes(tmp_path: Path) -> None:
    """Of a picture, the best."""
    values = np.zeros((1, 1200, 6), dtype=np.float32)
    values[0, :, 0] = values[0, :, 1] = np.arange(1200) % 300
    values[0, :, 2:4] = values[0, :, :2] + 5
    values[0, :, 4] = np.linspace(0.3, 0.9, 1200)
    path = write_constant(tmp_path / "many.onnx", values)
    facts = examined_detector(path)
    (found,) = ObjectDetector(path, facts).detect([np.zeros((SIDE, SIDE, 3), dtype=np.uint8)])
    assert len(found) == 1000
    assert found[0].score == pytest.approx(0.9)
    assert found[-1].score == pytest.approx(0.4, abs=0.01)


@pytest.mark.slow
def test_outputs_of_any_shape(tmp_path: Path) -> None:
    """Whatever a network answers: it is a detector that runs, or refused in words."""
    generator, path = np.random.default_rng(0), tmp_path / "any.onnx"
    sides = (0, 1, 2, 4, 5, 6, 7, 84, 300, RAW_GRID // 3, RAW_GRID)
    detectors = 0
    for _ in range(80):
        rank = int(generator.integers(0, 5))
        shape = (*[1] * (rank - 2), *generator.choice(sides, min(rank, 2)).tolist())
        values = generator.random(shape) * generator.choice([0.5, 1, SIDE], p=[0.6, 0.2, 0.2])
        name = str(generator.choice(["output", "logits"]))
        write_constant(path, np.asarray(values), name=name)
        try:
            facts = examined_detector(path)
            (found,) = ObjectDetector(path, facts).detect([np.zeros((50, 90, 3), dtype=np.uint8)])
        except ModelError:
            continue
        detectors += 1
        assert all(
            0 <= each.box.left < each.box.right <= 1 and 0 < each.score <= 1 for each in found
        )
    assert detectors > 1


def test_another_form_than_in_the_trial(tmp_path: Path) -> None:
    """The file was replaced, or its outputs depend on the picture."""
    path = write_constant(tmp_path / "six.onnx", np.zeros((1, 300, 6)))
    facts = examined_detector(path)
    write_constant(path, np.zeros((1, 301, 4)))
    with pytest.raises(ModelError, match=r"another form than in its trial.*\(1, 301, 4\)"):
        ObjectDetector(path, facts).detect([np.zeros((50, 90, 3), dtype=np.uint8)])
