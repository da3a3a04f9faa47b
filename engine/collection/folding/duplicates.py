"""Find duplicates: identical bytes, and resized, recompressed, brightened or cropped copies.

Copies have perceptual hashes of small Hamming distance and embeddings that are not far apart;
embeddings alone do not tell a copy from another photo of the same object. `protoleaf experiment
duplicates` measures both. Photos with different camera times are never
copies; they may be a sequence.
"""

from collections.abc import Callable, Iterator
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from engine.arrays import Flags, Integers
from engine.collection.folding.partitions import ALONE, all_alone, components, groups_of
from engine.collection.folding.sequences import UNKNOWN_TIME
from engine.everyday.blocks import Embeddings, to_floats

# Hamming distance of copies, of 64: 97 % of such pairs are copies or successive shots
MOST_BITS = 8
MOST_BITS_TO_FIRST = 12  # Hamming distance of a copy of a copy to the first one
LEAST_COSINE = 0.7  # of the embeddings of two copies
# samples of bits; pairs with an equal sample are compared (locality-sensitive hashing)
BANDS = 24
# bits of a sample: 99.8 % of pairs with a distance of 8 share a sample. Chosen
BAND_BITS = 10
# hashes of a band that one is compared with. Chosen: bounds the time for 100,000 plain pictures
WINDOW = 256
BLOCK = 128  # rows compared at a time
MOST_PAIRS = 8  # of one hash in one band: enough to connect many copies
MOST_FIRSTS = 64  # groups that a chain of copies is split into; other images are left alone
PAIRS_AT_ONCE = 4096  # pairs whose embeddings are multiplied at a time

Bits = NDArray[np.uint64]


def same_content(keys: NDArray[np.bytes_]) -> Integers:
    """(n,) groups of images with equal content hashes; a hash is empty before a file was read."""
    some = np.flatnonzero(recurs(keys.astype("S8").view(np.uint64)) & (keys != b""))
    if len(some) == 0:
        return all_alone(len(keys))
    _, first, place = np.unique(keys[some], return_index=True, return_inverse=True)
    lowest = np.arange(len(keys), dtype=np.int64)
    lowest[some] = some[first][place.reshape(-1)]
    return groups_of(lowest)


def recurs(numbers: Bits) -> Flags:
    """(n,) whether a number recurs; sorting numbers is 100 times as fast as sorting hashes."""
    ordered = np.sort(numbers)
    again = ordered[1:][ordered[1:] == ordered[:-1]]
    return np.isin(numbers, again) if len(again) else np.zeros(len(numbers), dtype=bool)


def copies(bits: Bits, seconds: Integers, embeddings: Embeddings, rows: Integers) -> Integers:
    """(n,) groups of near-duplicates; `ALONE` for all others.

    Args:
        bits: (n,) perceptual hashes, 0 for none.
        seconds: (n,) times of the shots, `UNKNOWN_TIME` for none.
        embeddings: (r, d) of length 1.
        rows: (n,) rows of the images, -1 for those without an embedding.
    """
    known = np.flatnonzero(bits != 0)
    if len(known) == 0:
        return all_alone(len(bits))
    values, first, place = np.unique(bits[known], return_index=True, return_inverse=True)
    firsts = known[first]
    lowest = np.arange(len(bits), dtype=np.int64)

    def settled(some: Integers) -> bool:
        return bool((lowest[firsts[some]] == lowest[firsts[some[0]]]).all())

    for one, other in chain([(firsts[place.reshape(-1)], known)], _pairs(values, firsts, settled)):
        apart = lowest[one] != lowest[other]
        fits = _confirmed(one[apart], other[apart], seconds, embeddings, rows)
        ends = np.stack([lowest[one[apart][fits]], lowest[other[apart][fits]]])
        lowest = components(len(bits), *ends)[lowest]
    return _around_firsts(bits, seconds, groups_of(lowest))


def _pairs(
    values: Bits, firsts: Integers, settled: Callable[[Integers], bool]
) -> Iterator[tuple[Integers, Integers]]:
    """Pairs of places whose distinct hashes (m,) differ in at most `MOST_BITS`, band by band.

    Args:
        settled: whether some hashes are in one group already, so that no pair of them is needed.
    """
    generator = np.random.default_rng(0)
    for _band in range(BANDS):
        places = generator.choice(64, BAND_BITS, replace=False)
        band = np.zeros(len(values), dtype=np.uint64)
        for place in places.tolist():
            band = band << np.uint64(1) | values >> np.uint64(place) & np.uint64(1)
        order = np.argsort(band, kind="stable")
        begins = np.flatnonzero(np.diff(band[order], prepend=np.uint64(1 << BAND_BITS)))
        open_ones = (
            each for each in np.split(order, begins[1:]) if len(each) > 1 and not settled(each)
        )
        found = [pair for each in open_ones for pair in _close(values, each)]
        if found:
            one, other = (np.concatenate([pair[end] for pair in found]) for end in (0, 1))
            yield firsts[one], firsts[other]


def _confirmed(
    one: Integers, other: Integers, seconds: Integers, embeddings: Embeddings, rows: Integers
) -> Flags:
    return _same_time(seconds, one, other) & _alike(embeddings, rows[one], rows[other])


def _close(values: Bits, places: Integers) -> Iterator[tuple[Integers, Integers]]:
    """Pairs of close hashes among these places, each with at most `WINDOW` of those after it."""
    for start in range(0, len(places) - 1, BLOCK):
        here, there = places[start : start + BLOCK], places[start : start + BLOCK + WINDOW]
        differs = np.bitwise_count(values[here][:, None] ^ values[there][None])
        rows, columns = np.nonzero(differs <= MOST_BITS)
        later = columns > rows
        rows, columns = rows[later], columns[later]
        few = np.arange(len(rows)) - np.searchsorted(rows, rows) < MOST_PAIRS
        if few.any():
            yield here[rows[few]], there[columns[few]]


def _same_time(seconds: Integers, first: Integers, second: Integers) -> Flags:
    one, other = seconds[first], seconds[second]
    return (one == other) | (one == UNKNOWN_TIME) | (other == UNKNOWN_TIME)


def _alike(embeddings: Embeddings, first: Integers, second: Integers) -> Flags:
    """(p,) whether embeddings of pairs are similar; true without an embedding."""
    fits = np.ones(len(first), dtype=bool)
    for start in range(0, len(first), PAIRS_AT_ONCE):
        part = slice(start, start + PAIRS_AT_ONCE)
        one, other = first[part], second[part]
        if len(embeddings):
            cosines = np.einsum(
                "pd,pd->p", to_floats(embeddings[one]), to_floats(embeddings[other])
            )
            fits[part] = (cosines >= LEAST_COSINE) | (one < 0) | (other < 0)
    return fits


def _around_firsts(bits: Bits, seconds: Integers, groups: Integers) -> Integers:
    """Split chains of copies, so that every image is a copy of the first one of its group."""
    places = np.flatnonzero(groups != ALONE)
    order = places[np.argsort(groups[places], kind="stable")]
    lowest = np.arange(len(bits), dtype=np.int64)
    starts = np.flatnonzero(np.diff(groups[order], prepend=ALONE))
    for members in np.split(order, starts[1:]):
        rest = members
        for _turn in range(MOST_FIRSTS):
            if len(rest) == 0:
                break
            leader = np.full(len(rest), rest[0])
            is_copy = np.bitwise_count(bits[rest] ^ bits[leader]) <= MOST_BITS_TO_FIRST
            is_copy &= _same_time(seconds, leader, rest)
            lowest[rest[is_copy]] = rest[0]
            rest = rest[~is_copy]
    return groups_of(lowest)
