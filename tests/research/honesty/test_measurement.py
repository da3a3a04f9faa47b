"""Stages and sessions on synthetic embeddings: tables, records and claims."""

import json
from pathlib import Path

import numpy as np
import pytest

from engine.errors import FormatError, InputError
from research.honesty import records
from research.honesty.claims import total
from research.honesty.labelled_part import GivenLabels, LabelledPart
from research.honesty.measurement import HonestyPlan, check_collection, draw_of, measure_honesty
from research.honesty.records import METHODS, OURS, WITHOUT, HonestyCell
from research.honesty.replay import GROUPS, TEACHING, replay
from research.honesty.report import HonestyReport, outside_limits
from research.honesty.session_report import STEM, write_curve
from research.transfer.embedded import EmbeddedCollection
from tests.support.graphs import graph_of
from tests.support.transfer import collection_of, embedded

LEAVES = range(4, 12)
PLAN = HonestyPlan(shots=(2,), draws=2)


@pytest.fixture(scope="module")
def things() -> EmbeddedCollection:
    """Eight leaves in two branches, 14 images of `train` and 5 of `val` each; read-only."""
    names = {"Things": [], "Left": ["Things"], "Right": ["Things"]}
    leaves = {f"leaf {number}": ["Left" if number < 8 else "Right"] for number in LEAVES}
    return embedded(
        collection_of(dict.fromkeys(LEAVES, 14), dict.fromkeys(LEAVES, 5), graph_of(names | leaves))
    )


def test_few_classes_claim_what_is_right_with_room_for_others(things: EmbeddedCollection) -> None:
    """Without room for unseen classes, claims differ more from the truth."""
    part = LabelledPart(things, np.arange(len(things.embeddings)))
    rows = np.flatnonzero(np.isin(part.truth, [4, 8]))[::6]
    found = draw_of(part, GivenLabels(rows, part.truth[rows]))
    assert set(found) == set(METHODS)
    ours, without = found[OURS], found[WITHOUT]
    assert ours.images == len(part.rows) - len(rows)
    assert (
        abs(ours.claimed - ours.right) < abs(without.claimed - without.right) - 0.02 * ours.images
    )
    assert ours.calibration_error < without.calibration_error
    assert without.sure_still == without.sure_before >= ours.sure_still


@pytest.mark.slow
def test_elsewhere_val_alone_is_scored(things: EmbeddedCollection) -> None:
    """Labels are of `train`, and all classes have examples in the last stage."""
    plan = HonestyPlan(shots=(2,), draws=1, is_elsewhere=True)
    found = measure_honesty(things, plan)
    assert {result.draws[0][OURS].images for result in found} == {40}
    last = found[-1]
    assert last.stage.classes == 8
    assert last.draws[0][OURS] == last.draws[0][WITHOUT]
    nothing = collection_of(dict.fromkeys(LEAVES, 3), {}, things.collection.graph)
    with pytest.raises(InputError, match="nothing in val can be scored"):
        check_collection(nothing, is_elsewhere=True)


def test_too_few_images_to_label() -> None:
    """Fewer images than the collection stage needs."""
    graph = graph_of({"Things": [], "a": ["Things"], "b": ["Things"]})
    collection = collection_of({2: 3, 3: 3}, {2: 1, 3: 1}, graph)
    check_collection(collection, is_elsewhere=False)
    with pytest.raises(InputError, match="8 or more"):
        check_collection(collection, is_elsewhere=True)


@pytest.mark.slow
def test_draws_are_kept(things: EmbeddedCollection, tmp_path: Path) -> None:
    """Stored draws are extended; a corrupt file or one of another stage is refused."""
    stages = measure_honesty(things, HonestyPlan(shots=(1,), draws=1), runs=tmp_path)
    paths = sorted(tmp_path.rglob("*.json"))
    assert len(paths) == len(stages)
    name = "1-classes-1-shots"
    cell = HonestyCell.of(
        things.collection.identity, things.model, "random", name, is_elsewhere=False
    )
    path = cell.path(tmp_path)
    facts = json.loads(path.read_text(encoding="utf-8"))
    facts["draws"][0][OURS]["images"] = 4711
    path.write_text(json.dumps(facts), encoding="utf-8")
    again = measure_honesty(things, HonestyPlan(shots=(1,), draws=2), runs=tmp_path)
    assert [draw[OURS].images for draw in again[0].draws] == [4711, 151]
    assert records.read(cell, tmp_path) == list(again[0].draws)
    anew = measure_honesty(
        things, HonestyPlan(shots=(1,), draws=1), runs=tmp_path, is_from_scratch=True
    )
    assert anew == stages
    for text in ("{", json.dumps(facts | {"name": "other"}), json.dumps(facts | {"draws": [{}]})):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(FormatError, match="holds no result"):
            records.read(cell, tmp_path)


def test_tables_have_every_stage_and_method(things: EmbeddedCollection) -> None:
    """Also the stages with the same number of classes together."""
    report = HonestyReport("things", "leafnet", 8, "random", False, measure_honesty(things, PLAN))
    text = report.as_text()
    for words in (
        *METHODS.values(),
        "4, a branch, 2 shots",
        "8, all",
        "leafnet, 8 classes, 2 draws",
    ):
        assert words in text
    assert report.as_text(is_markdown=True).count("| 5, a branch, 2 shots |") == len(METHODS)
    stage = report.as_fields()["stages"][0]
    assert (stage["classes"], stage["shots"], len(stage["draws"][OURS])) == (1, 2, 2)


@pytest.mark.slow
def test_what_is_outside_the_limits(things: EmbeddedCollection) -> None:
    """Softmax of one class claims it for every image."""
    first, *_others, last = measure_honesty(things, PLAN)
    softmax = [draw["softmax"] for draw in first.draws]
    assert outside_limits(softmax, is_all=False) == ("calibration", "safe", "leaf")
    assert outside_limits([draw[OURS] for draw in last.draws], is_all=True) == ()


@pytest.mark.slow
def test_sessions(things: EmbeddedCollection, tmp_path: Path) -> None:
    """A point for every fit; labelled images do not count; points in a file and a figure."""
    sessions = replay(things, 12)
    assert [session.way for session in sessions] == [TEACHING, GROUPS]
    one_by_one, by_group = (session.curve for session in sessions)
    assert [point.labels for point in one_by_one] == list(range(1, 13))
    assert by_group[-2].labels < 12 <= by_group[-1].labels
    for point in (*one_by_one, *by_group):
        assert point.labels + point.rest.images == len(things.embeddings)
    assert total([point.rest for point in one_by_one]).sure_before == 0
    report = HonestyReport("things", "leafnet", 8, "random", False, (), sessions)
    assert (
        "Teach first, one by one: all 12 points; things, leafnet, 8 classes, 152 images"
        in report.as_text()
    )
    assert len(report.as_fields()["sessions"][0]["curve"]) == 12
    write_curve(sessions, "things", tmp_path)
    lines = (tmp_path / f"{STEM}.csv").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 1 + len(one_by_one) + len(by_group)
    assert lines[1].startswith("teach-first,1,1,151,")
    assert (tmp_path / f"{STEM}.svg").is_file()
