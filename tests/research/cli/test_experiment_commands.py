"""`protoleaf experiment ...` from a source of images to tables and figures."""

import csv
import json
import os
import signal
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from engine.events import Progress
from engine.training import loop
from engine.training.curve import TrainingPoint
from tests.support.command_line import done, protoleaf, refused
from tests.support.few_shot_data import colour_data, write_data
from tests.support.quick_training import quick_words
from tests.support.small_imagenet import write_small_imagenet, write_wordnet

TWO_WAYS = ("--ways", "2", "--setting", "training_ways=none")

Words = tuple[str | Path, ...]


@pytest.fixture(autouse=True)
def one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small tensors are slower on several cores."""
    torch.set_num_threads(1)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of a generated data set."""
    return write_data(colour_data(), tmp_path_factory.mktemp("data") / "colours")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory, data: Path) -> Path:
    """Folder of one trained PPN; tests only read it."""
    from engine.cli.main import main

    folder = tmp_path_factory.mktemp("runs")
    words = [
        "experiment",
        "train",
        str(data),
        str(folder),
        "--method",
        "ppn",
        *TWO_WAYS,
        *quick_words(),
    ]
    assert main(words) == 0
    return folder


@pytest.mark.slow
def test_from_images_to_figure(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Build, train, test and figure on a small WordNet, in ImageNet's layout."""
    source = write_small_imagenet(tmp_path / "source", images=32)
    wordnet = write_wordnet(tmp_path / "wordnet")
    data, runs, out = tmp_path / "data", tmp_path / "runs", tmp_path / "out"
    built = done(
        capsys,
        "experiment",
        "build",
        "--source",
        source,
        "--wordnet",
        wordnet,
        "--variant",
        "pure",
        "--out",
        data,
        "--side",
        "16",
        "--factor",
        "8",
    ).out
    assert "WS-ImageNet-Pure of the paper" in built
    assert "training classes" in built

    cell: Words = (data, runs, "--method", "ppn", *TWO_WAYS)
    trained = done(capsys, "experiment", "train", *cell, *quick_words(), "--json").fields
    assert (trained["iterations"], trained["data"]) == (3, "WS-ImageNet16-Pure")
    assert 0 <= trained["accuracy"] <= 1
    tested = done(capsys, "experiment", "test", *cell, "--json").fields
    assert [row["row"] for row in tested["rows"]] == ["ppn", "ppn+"]

    drawn = done(
        capsys, "experiment", "figure", "prototypes", data, "--runs", runs, "--out", out, *TWO_WAYS
    ).out
    assert "mean distance from child to parent" in drawn
    assert (out / "pure" / "prototypes-in-2d.png").is_file()


@pytest.mark.slow
def test_figure_of_propagation(
    data: Path, runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Figure 4 for the trained ways; an untrained one names the missing training."""
    words: Words = ("experiment", "figure", "propagation", data, "--runs", runs, "--out", tmp_path)
    files = done(capsys, *words, *TWO_WAYS, "--json").fields["files"]
    assert [Path(path).suffix for path in files] == [".png", ".svg", ".csv"]
    with Path(files[2]).open(encoding="utf-8") as file:
        assert {row["ways"] for row in csv.DictReader(file)} == {"2"}
    assert "ppn was not trained for 5-way" in refused(capsys, *words)


@pytest.mark.slow
def test_table_is_made_and_shown(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The table is trained and tested in processes; `--only-show` shows it without training."""
    words: Words = (
        "experiment",
        "table",
        data,
        "--runs",
        tmp_path / "runs",
        "--results",
        tmp_path / "results",
    )
    words = (
        *words,
        "--seeds",
        "1",
        "--validation",
        "5",
        "--shots",
        "1",
        "--method",
        "closer-look",
        *quick_words(),
    )
    assert "closer-look.json" not in {path.name for path in tmp_path.rglob("*")}
    made = done(capsys, *words).out
    assert "pure, 5-way 1-shot: 1 splits, 1 seeds" in made
    assert "32.27" in made  # the paper's
    shown = done(capsys, *words, "--only-show", "--markdown").out
    line = next(line for line in shown.splitlines() if line.startswith("| Closer Look |"))
    assert line.split("|")[2].strip() == "its own test"


@pytest.mark.slow
def test_goes_on_after_ctrl_c(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first Ctrl+C keeps the checkpoint and prints how to resume; a second run finishes."""
    handler = signal.getsignal(signal.SIGINT)  # programs in the background ignore it
    add_point = loop._Training._add_point  # noqa: SLF001 (an interruption at exactly this moment)

    def interrupted(training: loop._Training, *, is_last: bool) -> None:
        add_point(training, is_last=is_last)
        os.kill(os.getpid(), signal.SIGINT)

    words: Words = (data, tmp_path, "--method", "prototypical-net", *TWO_WAYS, *quick_words())
    with monkeypatch.context() as patched:
        patched.setattr(loop._Training, "_add_point", interrupted)  # noqa: SLF001 (an interruption at exactly this moment)
        message = refused(capsys, "experiment", "train", *words, status=130)
    assert "what was finished is kept; resume with: protoleaf experiment train" in message
    assert "--method prototypical-net --ways 2" in message
    assert (tmp_path / "pure" / "2w1s" / "prototypical-net" / "checkpoint.safetensors").is_file()
    again = done(capsys, "experiment", "train", *words).out
    assert "3 iterations, loss" in again
    assert signal.getsignal(signal.SIGINT) is handler


def test_progress_tells_the_curve(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The text beside the bar is the last point; before the first it is empty."""
    from research.cli.experiment_runs import _Note

    seen: list[Progress] = []
    note = _Note(seen.append)
    note.show(Progress(1, 3))
    note.keep(TrainingPoint(2, 1.25, accuracy=0.5))
    note.show(Progress(2, 3))
    assert [progress.note for progress in seen] == [
        "",
        "loss 1.250, 50.0% right on some test tasks",
    ]
    assert replace(seen[1], note="") == Progress(2, 3)


def test_only_one_process_speaks(
    data: Path, runs: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Under torchrun the other processes print nothing; a finished training is not repeated."""
    words: Words = ("experiment", "train", data, runs, "--method", "ppn", *TWO_WAYS, *quick_words())
    assert "3 iterations" in done(capsys, *words).out
    monkeypatch.setenv("RANK", "1")
    assert done(capsys, *words).out == ""


@pytest.mark.slow
def test_speed(capsys: pytest.CaptureFixture[str]) -> None:
    """One JSON object with all figures."""
    words = ("--side", "16", "--few-images", "--rounds", "1", "--threads", "1", *quick_words()[2:])
    fields = json.loads(done(capsys, "experiment", "speed", *words, "--json").out)
    assert (fields["threads"], fields["rounds"], fields["side"]) == (1, 1, 16)
    assert {time["row"] for time in fields["times"]} >= {"ppn+", "gnn-star"}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ("build", "--source", "a", "--wordnet", "b", "--variant", "both", "--out", "c"),
            "expected pure or mix",
        ),
        (
            ("train", "DATA", "RUNS", "--method", "ppn+"),
            "closer-look-star, ppn, prototypical-net-heads",
        ),
        (("train", "DATA", "RUNS", "--method", "ppn", "--setting", "magic=1"), "no such setting"),
        (("train", "DATA", "RUNS", "--method", "ppn", "--setting", "iterations"), "name=value"),
        (("train", "DATA", "RUNS"), "--method"),
        (("table", "DATA", "--runs", "RUNS", "--results", "OUT", "--shots", "3"), "1 or 5 shots"),
        (
            ("table", "DATA", "--runs", "RUNS", "--results", "OUT", "--method", "magic"),
            "no such method",
        ),
        (
            ("figure", "prototypes", "DATA", "DATA", "--runs", "RUNS", "--out", "OUT"),
            "two data sets are of one variant",
        ),
        (
            ("figure", "nonsense", "DATA", "--runs", "RUNS", "--out", "OUT"),
            "prototypes or propagation",
        ),
        (("speed", "--rounds", "0"), "--rounds"),
    ],
)
def test_misuse(
    words: tuple[str, ...],
    message: str,
    data: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """One line with the alternatives, and status 2."""
    places = {"DATA": str(data), "RUNS": str(tmp_path / "runs"), "OUT": str(tmp_path / "out")}
    assert message in refused(
        capsys, "experiment", *(places.get(word, word) for word in words), status=2
    )
    assert not (tmp_path / "runs").exists()


def test_refusals(
    data: Path, runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line with the error, and status 1."""
    cell: Words = ("--method", "ppn", *TWO_WAYS)
    assert "data_set.json" in refused(capsys, "experiment", "train", tmp_path, runs, *cell)
    assert "Train it first" in refused(capsys, "experiment", "test", data, tmp_path, *cell)
    other_seed = refused(capsys, "experiment", "test", data, runs, *cell, "--setting", "seed=5")
    assert "trained with another seed" in other_seed
    answer = protoleaf(capsys, "experiment", "train", data, runs, *cell, *quick_words(seed=5))
    assert (answer.status, "another folder" in answer.err) == (1, True)
