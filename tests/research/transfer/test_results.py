import json
import math
from dataclasses import replace
from pathlib import Path

import pytest

from engine.errors import FormatError, StorageError
from research.transfer import results
from research.transfer.draws import Situation
from research.transfer.results import TOP1, TransferResult
from tests.support.transfer import result_of


def test_survives_the_disk(tmp_path: Path) -> None:
    """Results round-trip; NaN is left out and read as NaN."""
    result = result_of("everyday", [0.25, 0.5], safe_accuracy=math.nan, coverage=0.0)
    results.write(result, tmp_path)
    again = results.read(result.cell, tmp_path)
    assert again is not None
    assert again.values() == (0.25, 0.5)
    assert again.values("coverage") == (0.0, 0.0)
    assert all(map(math.isnan, again.values("safe_accuracy")))


def test_nothing_there_is_no_error(tmp_path: Path) -> None:
    """A cell that was not measured has no result."""
    assert results.read(result_of("everyday", [0.5]).cell, tmp_path) is None


def test_cells_do_not_share_files(tmp_path: Path) -> None:
    """Every part of a cell is in its path."""
    cell = result_of("everyday", [0.5]).cell
    others = [
        replace(cell, method="prototypes"),
        replace(cell, situation=Situation(True, 1)),
        replace(cell, situation=Situation(False, 2)),
        replace(cell, situation=Situation(False, 1, is_elsewhere=True)),
        replace(cell, situation=Situation(True, 1, is_elsewhere=True)),
        replace(cell, situation=Situation(False, 1, sizes="equal")),
        replace(cell, situation=Situation(False, 1, sizes="zipf")),
        replace(cell, situation=Situation(False, 1, shot_sizes="proportional")),
        replace(cell, backbone_hash="f" * 64),
        replace(cell, collection="other"),
    ]
    assert len({each.path(tmp_path) for each in [cell, *others]}) == 11


def test_class_sizes_survive_the_disk(tmp_path: Path) -> None:
    """They are in the folder's name, and a file of other sizes is refused."""
    result = result_of(
        "everyday", [0.5], shots=5, is_elsewhere=True, sizes="zipf", shot_sizes="common-first"
    )
    path = results.write(result, tmp_path)
    assert path.parent.name == "5-shots-elsewhere-zipf-common-first-shots"
    assert results.read(result.cell, tmp_path) == result
    other = result_of(
        "everyday", [0.5], shots=5, is_elsewhere=True, sizes="one-large", shot_sizes="common-first"
    ).cell
    other.path(tmp_path).parent.mkdir(parents=True)
    path.replace(other.path(tmp_path))
    with pytest.raises(FormatError, match="holds no result"):
        results.read(other, tmp_path)


def test_files_of_before_are_read(tmp_path: Path) -> None:
    """Files without the newer fields are of the default situation."""
    result = result_of("everyday", [0.5], shots=5, has_coarse_labels=True)
    path = results.write(result, tmp_path)
    assert path.parts[-2:] == ("5-shots-coarse", "everyday.json")
    facts = json.loads(path.read_text(encoding="utf-8"))
    for name in ("elsewhere", "sizes", "shot_sizes"):
        del facts[name]
    path.write_text(json.dumps(facts), encoding="utf-8")
    assert results.read(result.cell, tmp_path) == result
    assert math.isnan(result.values("balanced")[0])
    other = result_of("everyday", [0.5], shots=5, has_coarse_labels=True, is_elsewhere=True).cell
    other.path(tmp_path).parent.mkdir(parents=True)
    path.replace(other.path(tmp_path))
    with pytest.raises(FormatError, match="holds no result"):
        results.read(other, tmp_path)


@pytest.mark.parametrize(
    "text", ["", "{}", '{"draws": [{}]}', '{"draws": [{"": {"coverage": 1}}]}', "[1]"]
)
def test_refuses_a_torn_file(tmp_path: Path, text: str) -> None:
    """A corrupt file is an error, not an empty result."""
    path = results.write(result_of("everyday", [0.5]), tmp_path)
    path.write_text(text, encoding="utf-8")
    with pytest.raises(FormatError, match=r"everyday\.json holds no result"):
        results.read(result_of("everyday", [0.5]).cell, tmp_path)


def test_refuses_another_cell(tmp_path: Path) -> None:
    """A file moved to another cell's path is refused."""
    path = results.write(result_of("everyday", [0.5]), tmp_path)
    path.replace(path.with_name("prototypes.json"))
    with pytest.raises(FormatError, match="holds no result"):
        results.read(result_of("prototypes", [0.5]).cell, tmp_path)


def test_a_folder_that_refuses(tmp_path: Path) -> None:
    """A file in place of the folder is an error."""
    (tmp_path / "transfer").write_text("", encoding="utf-8")
    with pytest.raises(StorageError, match="cannot be written"):
        results.write(result_of("everyday", [0.5]), tmp_path)


def test_the_best_option_has_the_best_mean() -> None:
    """Chosen over all draws, not draw by draw."""
    draws = ({"a": {TOP1: 0.9}, "b": {TOP1: 0.6}}, {"a": {TOP1: 0.1}, "b": {TOP1: 0.6}})
    result = TransferResult(result_of("tim", [0.5]).cell, draws)
    assert result.options == ("a", "b")
    assert result.best_option() == "b"
    assert result.values() == (0.6, 0.6)
    assert result.values(option="a") == (0.9, 0.1)
    assert result.first(1).best_option() == "a"


def test_each_figure_has_a_best_option() -> None:
    """The best of val differs from that of all images; options without values are never best."""
    result = TransferResult(
        result_of("tim", [0.5]).cell,
        ({"a": {TOP1: 0.9, "top1_val": 0.1}, "b": {TOP1: 0.6, "top1_val": 0.3}},),
    )
    assert (result.best_option(), result.best_option("top1_val")) == ("a", "b")
    assert result.values("top1_val") == (0.3,)
    unknown = TransferResult(result.cell, ({"a": {TOP1: 0.9}, "b": {TOP1: 0.6, "top1_val": 0.3}},))
    assert unknown.best_option("top1_val") == "b"
