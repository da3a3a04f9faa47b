"""Which devices are listed and can be chosen; facts about the collection stage."""

import pytest

from app.computing.logic import (
    CollectionFacts,
    Survey,
    collection_facts,
    first_with_reason,
    is_choosable,
    listed_devices,
    switch_collection,
)
from engine.collection.live import LiveCollection
from tests.support.collections import Collection
from tests.support.surveys import WHY, WITH_GPU, WITHOUT_GPU


@pytest.mark.parametrize(
    ("system", "listed"),
    [
        (("tensorrt", "cuda", "cpu"), ("auto", "cpu", "cuda", "tensorrt")),
        (("tensorrt", "cuda", "directml", "cpu"), ("auto", "cpu", "cuda", "directml", "tensorrt")),
        (("coreml", "cpu"), ("auto", "cpu", "coreml")),
    ],
)
def test_the_list_begins_with_what_always_works(
    system: tuple[str, ...], listed: tuple[str, ...]
) -> None:
    """Automatic, then the CPU, then devices that the platform may have."""
    assert listed_devices(system) == listed


def test_a_device_can_be_chosen_once_it_is_known_to_work() -> None:
    """Automatic and the CPU always, others where they work."""
    with_gpu, without = Survey.of_list(WITH_GPU), Survey.of_list(WITHOUT_GPU)
    devices = ("auto", "cpu", "cuda", "tensorrt", "coreml")
    assert [is_choosable(device, None) for device in devices] == [True, True, False, False, False]
    assert [is_choosable(device, without) for device in devices] == [
        True,
        True,
        False,
        False,
        False,
    ]
    assert [is_choosable(device, with_gpu) for device in devices] == [True, True, True, True, False]


def test_a_survey_is_read_as_the_worker_writes_it() -> None:
    """A survey has measured speeds, or the reason of a failure."""
    survey = Survey.of_list(WITHOUT_GPU, was_alone=False)
    assert survey.reports["cpu"].speed["images_per_s"] == pytest.approx(850.4)
    assert (survey.reports["cuda"].reason, survey.reports["cuda"].speed) == (WHY, {})
    assert (survey.auto_name, survey.auto_reason, survey.was_alone) == ("CPU", WHY, False)
    assert {first_with_reason(device, survey) for device in ("cuda", "tensorrt")} == {"cuda"}


@pytest.mark.slow
def test_the_collection_answers_for_its_stage(collection: Collection) -> None:
    """The check while the stage is on; no check while it is off."""
    live = LiveCollection.open(collection.project, collection.caches)
    try:
        assert collection_facts(live) == CollectionFacts(is_on=True)
        live.load()
        facts = collection_facts(live)
        assert (facts.is_on, facts.is_fitted) == (True, True)
        figures = facts.figures
        assert figures is not None
        assert figures.shots > 0
        assert figures.is_used is (figures.hits >= figures.hits_without)
        live.apply(switch_collection(live.project, is_on=False))
        assert collection_facts(live) == CollectionFacts(is_on=False, is_fitted=True)
        assert str(live.project.history.undo_action) == "Turned off learning from unlabelled images"
        undone = live.project.history.undo()
        assert undone is not None
        live.apply(undone)
        assert collection_facts(live) == facts
    finally:
        live.close()
