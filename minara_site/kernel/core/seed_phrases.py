"""Seed phrases of wallets in a text: BIP-39 words in a row whose checksum holds. Source: bitcoin/bips, bip-0039."""

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from minara_site.kernel.core.bip39 import BIP39_ENGLISH
from minara_site.kernel.core.secret_shapes import find_phrases

SIZES = (24, 21, 18, 15, 12)

_INDEX = {word: index for index, word in enumerate(BIP39_ENGLISH)}
_WORD_BITS = 11
_LETTERS = re.compile("[A-Za-z]+")
_DIGITS = re.compile("[0-9]+")


class _Word(NamedTuple):
    place: int
    start: int
    end: int


def find_seed_phrases(text: str) -> list[tuple[int, int]]:
    """Return start and end of each seed phrase: one line, a list, numbered, with commas. Linear in the text."""
    return [span for start, end in find_phrases(text) for span in _phrases_of_run(text, start, end)]


def is_seed_phrase(indexes: Sequence[int]) -> bool:
    """Say whether the words with these places in the list carry their own checksum."""
    if len(indexes) not in SIZES:
        return False
    number = 0
    for index in indexes:
        number = number << _WORD_BITS | index
    return _holds(number, len(indexes))


def _phrases_of_run(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Return the phrases in a run of words: the run, a part of it that is written alike, or else any stretch of it.

    A stretch is tried only when neither has the length of a phrase: a wrong checksum has a right one inside by chance.
    """
    words = [
        _Word(
            _INDEX[hit.group().lower()],
            *hit.span(),
        )
        for hit in _LETTERS.finditer(text, start, end)
    ]
    parts = [part for part in [words, *_parts_written_similarly(text, words)] if len(part) in SIZES]
    whole = [part for part in parts if is_seed_phrase([word.place for word in part])]
    found = whole[:1] if whole and whole[0] is words else whole
    if not parts:
        found = list(_stretches(words))
    return [(part[0].start, part[-1].end) for part in found]


def _parts_written_similarly(text: str, words: Sequence[_Word]) -> Iterator[list[_Word]]:
    """Yield the words cut where what stands between two is not what mostly stands there, as after `seed phrase:`."""
    between = [_DIGITS.sub("", text[first.end : second.start]) for first, second in pairwise(words)]
    usual = Counter(between).most_common(1)[0][0]
    part = [words[0]]
    for gap, word in zip(between, words[1:], strict=True):
        if gap != usual:
            yield part
            part = []
        part.append(word)
    yield part


def _stretches(words: list[_Word]) -> Iterator[list[_Word]]:
    """Yield the stretches with a right checksum, the longest first, none twice."""
    taken = -1
    numbers, refused = dict.fromkeys(SIZES, 0), {size: set[int]() for size in SIZES}
    for last, word in enumerate(words):
        for size in SIZES:
            numbers[size] = (numbers[size] << _WORD_BITS | word.place) & ((1 << _WORD_BITS * size) - 1)
            if last + 1 - size <= taken or numbers[size] in refused[size]:  # the same words over and over
                continue
            if _holds(numbers[size], size):
                yield words[last + 1 - size : last + 1]
                taken = last
                break
            refused[size].add(numbers[size])


def _holds(number: int, size: int) -> bool:
    """Say whether the last bits of a phrase of this many words are the first of the SHA-256 of the others."""
    checksum_bits = size // 3
    entropy = (number >> checksum_bits).to_bytes(checksum_bits * 4, "big")
    return hashlib.sha256(entropy).digest()[0] >> (8 - checksum_bits) == number & ((1 << checksum_bits) - 1)
