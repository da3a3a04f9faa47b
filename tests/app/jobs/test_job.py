"""The queue of heavy jobs."""

from collections.abc import Iterator
from typing import final

import pytest
from PySide6.QtCore import QCoreApplication, QEvent

from app.jobs.job import Job, JobRunner, JobState, Lane
from tests.support.sessions import recorded


@final
class HandJob(Job):
    """A job that the test ends."""

    def start(self) -> None:
        """Start."""
        self._begin()

    def cancel(self) -> None:
        """Stop at once."""
        self._stop()

    def succeed(self) -> None:
        """End with a result."""
        self._succeed("result")

    def fail(self) -> None:
        """End with an error."""
        self._fail("broken")


@pytest.fixture
def runner(qapp: QCoreApplication) -> Iterator[JobRunner]:
    """A queue that outlives its jobs, like that of a session."""
    runner = JobRunner()
    yield runner
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


def queued(runner: JobRunner, count: int) -> list[HandJob]:
    """Jobs queued in order."""
    jobs = [HandJob(f"job {number}") for number in range(count)]
    for job in jobs:
        runner.run(job)
    return jobs


def states(jobs: list[HandJob]) -> list[JobState]:
    """The state of each job."""
    return [job.state for job in jobs]


def test_one_heavy_job_runs_at_a_time(runner: JobRunner) -> None:
    """The second starts after the end of the first, however that ends."""
    jobs = queued(runner, 3)
    assert states(jobs) == [JobState.RUNNING, JobState.QUEUED, JobState.QUEUED]
    jobs[0].fail()
    assert states(jobs)[:2] == [JobState.FAILED, JobState.RUNNING]
    jobs[1].succeed()
    assert states(jobs)[1:] == [JobState.DONE, JobState.RUNNING]
    jobs[2].cancel()
    assert runner.jobs == ()


def test_a_waiting_job_can_be_cancelled(runner: JobRunner) -> None:
    """It never starts, and the others continue."""
    jobs = queued(runner, 3)
    jobs[1].cancel()
    jobs[0].succeed()
    assert states(jobs) == [JobState.DONE, JobState.CANCELLED, JobState.RUNNING]
    jobs[2].succeed()


def test_cancelling_all_leaves_nothing(runner: JobRunner) -> None:
    """Every job ends, and no pending one starts meanwhile."""
    jobs = queued(runner, 3)
    started = [recorded(job.started) for job in jobs[1:]]
    runner.cancel_all()
    assert states(jobs) == [JobState.CANCELLED] * 3
    assert (runner.jobs, started) == ((), [[], []])


def test_a_job_ends_only_once(qapp: QCoreApplication) -> None:
    """Calls after the end are ignored."""
    job = HandJob("job")
    ends = [recorded(signal) for signal in (job.finished, job.failed, job.cancelled, job.ended)]
    job.start()
    job.succeed()
    job.fail()
    job.cancel()
    assert [len(emitted) for emitted in ends] == [1, 0, 0, 1]


def test_the_runner_tells_who_came_and_went(runner: JobRunner) -> None:
    """The status bar needs only these two signals."""
    came, went = recorded(runner.job_added), recorded(runner.job_ended)
    watched = HandJob("watched")
    runner.watch(watched)
    (heavy,) = queued(runner, 1)
    assert came == [(watched,), (heavy,)]
    heavy.succeed()
    watched.cancel()
    assert went == [(heavy,), (watched,)]


def test_embedding_waits_for_no_training(runner: JobRunner) -> None:
    """A training runs after earlier jobs; later embedding jobs wait only for embedding."""
    before, training, dropped, later = (
        HandJob(name) for name in ("before", "training", "dropped", "later")
    )
    runner.run(before)
    runner.run(training, Lane.TRAINING)
    runner.run(dropped)
    assert states([before, training, dropped]) == [
        JobState.RUNNING,
        JobState.QUEUED,
        JobState.QUEUED,
    ]
    before.succeed()
    assert states([training, dropped]) == [JobState.RUNNING, JobState.RUNNING]
    runner.run(later, Lane.TRAINING)
    training.succeed()
    assert states([dropped, later]) == [JobState.RUNNING, JobState.QUEUED]
    dropped.succeed()
    assert states([later]) == [JobState.RUNNING]
    later.succeed()
