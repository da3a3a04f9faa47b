"""The cache of predictions for upcoming images, and its invalidation."""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

from app.session.guesses import FoundGuesses, Guesses


class Live:
    """Replacement for a collection: a guess has the image's number and the number of queries."""

    def __init__(self) -> None:
        self.row_scores = SimpleNamespace(models=(object(),))
        self.asked = 0

    def guesses(self, image_ids: Sequence[int]) -> dict[int, Any]:
        """Answer with new objects."""
        self.asked += 1
        return {
            image_id: SimpleNamespace(image_id=image_id, asked=self.asked) for image_id in image_ids
        }


def known(guesses: Guesses, image_id: int) -> int | None:
    """The query that an image's guess came from; None if unknown."""
    guess: Any = guesses.of(image_id)
    return None if guess is None else guess.asked


def made(live: Live) -> Guesses:
    """Guesses with immediate results."""
    return Guesses(lambda question, on_answer: on_answer(question(live)))  # type: ignore[arg-type]


def test_a_label_renews_what_is_wanted_and_forgets_the_rest() -> None:
    """Image 1 is no longer among the next ones; its cached guess is invalid."""
    live = Live()
    guesses = made(live)
    guesses.take(guesses.look_up(live, None))  # type: ignore[arg-type]
    guesses.want((1, 2, 3))
    guesses.want((2, 3))
    guesses.take(guesses.look_up(live, (1, 2)))  # type: ignore[arg-type]
    assert [known(guesses, image_id) for image_id in (1, 2, 3)] == [None, 3, 2]


def test_embeddings_renew_everything_also_beside_the_same_model() -> None:
    """An image without classes gets some, although no fit was due."""
    live = Live()
    guesses = made(live)
    guesses.take(guesses.look_up(live, None))  # type: ignore[arg-type]
    guesses.want((1, 2))
    guesses.take(guesses.look_up(live, None))  # type: ignore[arg-type]
    assert [known(guesses, image_id) for image_id in (1, 2)] == [3, 3]
    assert guesses.look_up(live, ()) == FoundGuesses()  # type: ignore[arg-type]
