"""Which of many texts say nearly the same: one template with other words in its gaps (MINJA). Pure.

Texts are compared by their pairs of neighbouring words. A text joins the first group whose leader shares at least half
of its pairs; only leaders that share a pair are looked at, so that the time grows with the texts, not their square.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from itertools import pairwise

WORD = re.compile(r"[a-z0-9][a-z0-9.,'%$-]*|[^\W\x00-\x7f]")  # letters of scripts without spaces count one by one
MIN_PAIRS = 4
SHARED = 0.5
MAX_PAIRS = 60
MAX_LEADERS = 16  # of one pair of words: what is in more groups than that says nothing


def group_similar(texts: Mapping[int, str]) -> list[list[int]]:
    """Return the keys of texts that say nearly the same, in the given order, groups of one included."""
    groups: list[list[int]] = []
    sizes: list[int] = []
    leaders: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
    for key, text in texts.items():
        words = WORD.findall(text.lower())[: MAX_PAIRS + 1]
        pairs = frozenset(pairwise(words))
        found = find_group(pairs, leaders, sizes)
        if found is not None:
            groups[found].append(key)
            continue
        for pair in pairs:
            if len(leaders[pair]) < MAX_LEADERS:
                leaders[pair].append(len(groups))
        groups.append([key])
        sizes.append(len(pairs))
    return groups


def find_group(
    pairs: frozenset[tuple[str, str]],
    leaders: Mapping[tuple[str, str], Iterable[int]],
    sizes: list[int],
) -> int | None:
    """Return the group whose leader shares most pairs, when that is half of the shorter of both, else None."""
    if len(pairs) < MIN_PAIRS:
        return None
    shared = Counter(group for pair in pairs for group in leaders.get(pair, ()))
    for group, count in shared.most_common(1):
        if sizes[group] >= MIN_PAIRS and count >= SHARED * min(sizes[group], len(pairs)):
            return group
    return None
