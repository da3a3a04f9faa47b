import json
import math
from dataclasses import replace

from research.transfer.candidates import MeasuredBackbone
from research.transfer.report import TransferReport, fields_of
from research.transfer.results import TOP1, TransferResult
from research.transfer.tables import accuracies, differences, honesty
from tests.support.transfer import result_of

RESULTS = (
    result_of("everyday", [0.5, 0.7], calibration_error=0.1, coverage=0.8, safe_accuracy=math.nan),
    result_of("prototypes", [0.4, 0.6]),
    result_of("prototypes", [0.8, 0.8], shots=5),
)


def test_accuracies_by_method_and_shots() -> None:
    """Peers are in the program's order; a cell without result is a dash."""
    table = accuracies(RESULTS)
    assert table.header == ("method", "1 shot", "5 shots")
    assert table.rows == (
        ("nearest prototype", "50.0 ± 127.1", "80.0 ± 0.0"),
        ("everyday model", "60.0 ± 127.1", "-"),
    )


def test_differences_are_paired() -> None:
    """The everyday model is 10 points ahead in each draw: a star."""
    assert differences(RESULTS).rows == (("nearest prototype", "+10.0 ± 0.0 *", "-"),)


def test_honesty_is_of_ours_alone() -> None:
    """Calibration error, safe class and coverage; NaN is a dash."""
    assert honesty(RESULTS).rows == (
        ("everyday model: calibration error", "10.0 ± 0.0", "-"),
        ("everyday model: safe class right", "-", "-"),
        ("everyday model: coverage", "80.0 ± 0.0", "-"),
        ("everyday model: calibration error, all draws together", "-", "-"),
    )


def tim() -> TransferResult:
    """One draw of a peer with two options; the default is not the best, and parts differ."""
    options = {
        "length 1": {TOP1: 0.5, "top1_train": 0.6, "top1_val": 0.2},
        "centred": {TOP1: 0.6, "top1_train": 0.8, "top1_val": 0.1},
    }
    return TransferResult(result_of("tim", [0.5]).cell, (options,))


def test_the_default_stands_beside_the_best() -> None:
    """A peer with options has two rows, best and default; one without has one."""
    rows = accuracies((RESULTS[1].first(1), tim())).rows
    assert rows == (
        ("nearest prototype", "40.0"),
        ("TIM, best option", "60.0"),
        ("TIM, length 1", "50.0"),
    )
    ours = result_of("everyday", [0.7], top1_val=0.15)
    assert [row[1] for row in differences((tim(), ours)).rows] == ["+10.0", "+20.0"]
    assert [row[1] for row in differences((tim(), ours), "val").rows] == ["-5.0", "-5.0"]


def test_parts_have_tables_of_their_own() -> None:
    """All photos, those of train and those of val, in every kind of table, if separated."""
    ours = result_of(
        "everyday", [0.7], top1_train=0.9, top1_val=0.15, coverage=0.5, coverage_val=0.25
    )
    report = TransferReport(
        "plants", 1200, 200, 6, (tim(), ours), (MeasuredBackbone("leafnet", 7.28, 128, 151.4),)
    )
    tables = dict(zip(*[iter(report.as_text().split("\n\n"))] * 2, strict=True))
    facts = "leaf top-1 in %, 6 classes, {} images{}, 1 draw, 95 % interval"
    heads = {"": facts.format("1,200", ""), ", photos of train": facts.format("1,000", " in train")}
    heads[", photos of val"] = facts.format("200", " in val")
    values = [("60.0", "70.0"), ("80.0", "90.0"), ("20.0", "15.0")]
    for (part, head), (peer, own) in zip(heads.items(), values, strict=True):
        lines = tables[f"leafnet, shots alone{part}: {head}"].splitlines()
        assert (lines[2].split()[-1], lines[-1].split()[-1]) == (peer, own)
        assert (
            f"leafnet, shots alone{part}: the everyday model minus each, in points, paired "
            "draw by draw" in tables
        )
        assert f"backbones{part}; nearest prototype, leaf top-1 in %" in tables
    table = tables[
        "leafnet, shots alone, photos of val: what the everyday model says of itself, in %"
    ]
    assert table.splitlines()[-2].split() == ["everyday", "model:", "coverage", "25.0"]
    assert "photos of" not in TransferReport("plants", 1200, 200, 6, RESULTS).as_text()


def test_report_of_two_situations() -> None:
    """Shots alone and with coarse labels are in separate tables."""
    coarse = result_of("prototypes", [0.3, 0.3], has_coarse_labels=True)
    report = TransferReport("plants", 1200, 200, 6, (*RESULTS, coarse))
    text = report.as_text()
    assert "leafnet, shots alone: leaf top-1 in %, 6 classes, 1,200 images, 2 draws" in text
    assert "leafnet, shots and coarse labels" in text
    assert "1 shot + coarse" in text
    assert "| nearest prototype | 30.0 ± 0.0 |" in report.as_text(is_markdown=True)


def test_elsewhere_has_tables_of_its_own() -> None:
    """The title has the places of shots and collection; no table mixes both kinds."""
    there = [
        result_of("prototypes", [0.1, 0.1], is_elsewhere=True),
        result_of("everyday", [0.3, 0.3], is_elsewhere=True),
        result_of("everyday", [0.2, 0.2], has_coarse_labels=True, is_elsewhere=True),
    ]
    text = TransferReport("plants", 1200, 200, 6, (*there, *RESULTS)).as_text()
    heading = "leafnet, shots from train, the collection is val"
    before, after = text.split(
        f"{heading}: leaf top-1 in %, 6 classes, 200 images in val, 2 draws", maxsplit=1
    )
    assert "leafnet, shots alone: leaf top-1 in %, 6 classes, 1,200 images, 2 draws" in before
    assert "50.0 ± 127.1" in before
    assert "127.1" not in after
    assert after.split("\n\n")[1].splitlines()[2:] == [
        "nearest prototype  10.0 ± 0.0",
        "everyday model     30.0 ± 0.0",
    ]
    assert f"{heading}: the everyday model minus each" in after
    assert "leafnet, shots and coarse labels from train, the collection is val: leaf top-1" in after


def test_uneven_collections_have_balanced_accuracy() -> None:
    """And macro-F1, with differences; the title has the sizes. Else they are optional."""
    uneven = [
        result_of(
            method,
            [top1],
            sizes="zipf",
            shot_sizes="proportional",
            balanced=balanced,
            macro_f1=macro_f1,
        )
        for method, top1, balanced, macro_f1 in (
            ("prototypes", 0.5, 0.3, 0.25),
            ("everyday", 0.6, 0.2, 0.35),
        )
    ]
    text = TransferReport("plants", 1200, 200, 6, (*RESULTS, *uneven)).as_text()
    head = "leafnet, shots alone, class sizes by Zipf's law, shots in proportion to class sizes: "
    tables = dict(zip(*[iter(text.split("\n\n"))] * 2, strict=True))
    caption = "the everyday model minus each, in points, paired draw by draw"
    for figure, name, peer, difference in (
        ("leaf top-1", "", "50.0", "+10.0"),
        ("balanced accuracy", "balanced accuracy, ", "30.0", "-10.0"),
        ("macro-F1", "macro-F1, ", "25.0", "+10.0"),
    ):
        title = f"{head}{figure} in %, 6 classes, drawn from 1,200 images, 1 draw, 95 % interval"
        assert tables[title].splitlines()[2].split() == ["nearest", "prototype", peer]
        assert tables[f"{head}{name}{caption}"].splitlines()[2].split()[2] == difference
    usual = TransferReport("plants", 1200, 200, 6, RESULTS)
    assert "macro-F1" not in usual.as_text()
    assert "leafnet, shots alone: macro-F1 in %" in replace(usual, is_balanced=True).as_text()


def test_candidates_elsewhere() -> None:
    """Accuracy of prototypes elsewhere, beside the cost of a backbone, as in the title."""
    results = (result_of("prototypes", [0.1, 0.1], is_elsewhere=True),)
    text = TransferReport(
        "plants", 1200, 200, 6, results, (MeasuredBackbone("leafnet", 7.28, 128, 151.4),)
    ).as_text()
    assert (
        "backbones, shots from train, the collection is val; nearest prototype, leaf top-1 in %"
        in text
    )
    assert text.splitlines()[-1].split() == ["leafnet", "7.3", "128", "151", "10.0", "±", "0.0"]


def test_candidates_have_a_table() -> None:
    """Size, side, speed, and accuracy of prototypes."""
    results = tuple(result for result in RESULTS if result.cell.method == "prototypes")
    text = TransferReport(
        "plants", 1200, 200, 6, results, (MeasuredBackbone("leafnet", 7.28, 128, 151.4),)
    ).as_text()
    assert text.splitlines()[-1].split() == [
        "leafnet",
        "7.3",
        "128",
        "151",
        "50.0",
        "±",
        "127.1",
        "80.0",
        "±",
        "0.0",
    ]


def test_fields_are_plain() -> None:
    """JSON without NaN; figures without values are left out."""
    fields = fields_of(RESULTS[0])
    json.dumps(fields, allow_nan=False)
    assert (fields["method"], fields["shots"], fields["coarse_labels"]) == ("everyday", 1, False)
    assert fields["elsewhere"] is False
    assert fields_of(result_of("everyday", [0.5], is_elsewhere=True))["elsewhere"] is True
    assert fields["figures"].keys() == {"top1", "calibration_error", "coverage"}
    assert fields["figures"]["top1"]["draws"] == [0.5, 0.7]
    assert (fields["sizes"], fields["shot_sizes"]) == ("as-is", "equal")
    peer = fields_of(tim())
    assert (peer["option"], peer["default_option"]) == ("centred", "length 1")
    assert peer["figures"] == peer["options"]["centred"]
    assert peer["options"]["length 1"]["top1_val"]["draws"] == [0.2]
