"""Keys wait for one another, and none is lost."""

from app.review.turns import Turns


def test_an_act_that_nothing_holds_up_is_done_at_once() -> None:
    """Nobody waits for nothing."""
    done: list[str] = []
    Turns().take(lambda: done.append("a"))
    assert done == ["a"]


def test_what_comes_after_a_held_up_key_waits_in_order() -> None:
    """The first key cannot be told yet; the others come after it, also those that must wait again."""
    turns, done, known = Turns(), list[str](), set[str]()

    def attempt(name: str) -> bool:
        if name in known:
            done.append(name)
        return name in known

    turns.take(lambda: turns.attempt(lambda: attempt("a")))
    turns.take(lambda: done.append("b"))
    turns.take(lambda: turns.attempt(lambda: attempt("c")))
    turns.take(lambda: done.append("d"))
    turns.go_on()
    assert (done, turns.is_waiting) == ([], True)
    known.add("a")
    turns.go_on()
    assert (done, turns.is_waiting) == (["a", "b"], True)
    known.add("c")
    turns.go_on()
    assert (done, turns.is_waiting) == (["a", "b", "c", "d"], False)


def test_a_project_that_is_left_takes_its_keys_along() -> None:
    """Keys that wait for another project do nothing in this one."""
    turns, done = Turns(), list[str]()
    turns.attempt(lambda: False)
    turns.take(lambda: done.append("a"))
    turns.forget()
    turns.go_on()
    turns.take(lambda: done.append("b"))
    assert done == ["b"]


def test_what_an_attempt_does_makes_nobody_try_it_again() -> None:
    """A label is news, and news make the keys go on: the key that is just being worked off is not done twice."""
    turns, done, known = Turns(), list[str](), set[str]()

    def attempt(name: str) -> bool:
        if name not in known:
            return False
        done.append(name)
        turns.go_on()
        return True

    turns.take(lambda: turns.attempt(lambda: attempt("a")))
    turns.take(lambda: turns.attempt(lambda: attempt("b")))
    turns.take(lambda: done.append("c"))
    known.add("a")
    turns.go_on()
    assert (done, turns.is_waiting) == (["a"], True)
    known.add("b")
    turns.go_on()
    assert (done, turns.is_waiting) == (["a", "b", "c"], False)
