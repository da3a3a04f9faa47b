"""The layers of the contract of classifiers."""

from engine.everyday.classifier import Explains, Exports, FittedClassifier, HoldsOut


def test_the_core_is_six_members() -> None:
    """What a new way to classify must have.

    Each further layer is for those who explain, export or hold out.
    """
    assert members(FittedClassifier) == {
        "candidate_ids",
        "back_off",
        "classify",
        "classify_new",
        "probabilities",
        "is_unknown",
    }
    assert all(FittedClassifier in layer.__mro__ for layer in (Explains, Exports, HoldsOut))
    assert members(Explains) == {"explain", "prototype", "inheritance", "space"}
    assert members(Exports) == {"export", "distance", "unknown_distance"}
    assert members(HoldsOut) == {"held_out", "hold_out_each"}


def members(protocol: type) -> set[str]:
    return {name for name in vars(protocol) if not name.startswith("_")}
