"""What is known of images ahead of time is forgotten as soon as it is not true any more."""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

from app.session.guesses import FoundGuesses, Guesses


class Live:
    """Stands in for a collection: a guess is the image's number and how often the collection was asked."""

    def __init__(self) -> None:
        self.row_scores = SimpleNamespace(models=(object(),))
        self.asked = 0

    def guesses(self, image_ids: Sequence[int]) -> dict[int, Any]:
        """Answer, a new answer each time."""
        self.asked += 1
        return {
            image_id: SimpleNamespace(image_id=image_id, asked=self.asked) for image_id in image_ids
        }


def known(guesses: Guesses, image_id: int) -> int | None:
    """At which asking an image became known; None while it is not."""
    guess: Any = guesses.of(image_id)
    return None if guess is None else guess.asked


def made(live: Live) -> Guesses:
    """Guesses that are answered at once."""
    return Guesses(lambda question, on_answer: on_answer(question(live)))  # type: ignore[arg-type]


def test_a_label_renews_what_is_wanted_and_forgets_the_rest() -> None:
    """Image 1 is not among the next ones any more; what was known of its label is not shown again."""
    live = Live()
    guesses = made(live)
    guesses.take(guesses.look_up(live, None))  # type: ignore[arg-type]
    guesses.want((1, 2, 3))
    guesses.want((2, 3))
    guesses.take(guesses.look_up(live, (1, 2)))  # type: ignore[arg-type]
    assert [known(guesses, image_id) for image_id in (1, 2, 3)] == [None, 3, 2]


def test_embeddings_renew_everything_also_beside_the_same_model() -> None:
    """An image that had no classes yet has some now, although no fit was due."""
    live = Live()
    guesses = made(live)
    guesses.take(guesses.look_up(live, None))  # type: ignore[arg-type]
    guesses.want((1, 2))
    guesses.take(guesses.look_up(live, None))  # type: ignore[arg-type]
    assert [known(guesses, image_id) for image_id in (1, 2)] == [3, 3]
    assert guesses.look_up(live, ()) == FoundGuesses()  # type: ignore[arg-type]
