"""What a roll-back does to each entry of a user profile: it gets the value before the writer's last ones. Pure."""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set as AbstractSet
from dataclasses import dataclass
from itertools import takewhile

from minara_site.kernel.rollback import UnchangedRow
from minara_site.kernel.unchanged import UnchangedReason


@dataclass(frozen=True, slots=True)
class EntryStep:
    """One entry of a user profile: it gets the value of `revision_id`; `newest_id` is its newest revision now."""

    owner_id: int
    key: str
    revision_id: int
    newest_id: int


def decide_entries(
    changes: Iterable[tuple[int, int, str, str]],
    *,
    mine: AbstractSet[int],
    reapplied: Mapping[int, int],
) -> tuple[list[EntryStep], list[UnchangedRow]]:
    """Return a step, or why it stays, for each entry of a profile that the writer changed and that still shows it.

    `changes` are all revisions (id, owner, key, who replaced it) since the first of the writer's, oldest first; `mine`
    are the ids of the writer's; `reapplied` are those by which a roll-back gave back the value of another: which.
    """
    by_entry: dict[tuple[int, str], dict[int, str]] = {}
    for revision_id, owner_id, key, replaced_by in changes:
        by_entry.setdefault((owner_id, key), {})[revision_id] = replaced_by
    steps, unchanged = [], []
    for (owner_id, key), writers in sorted(by_entry.items()):
        line = list(iterate_line(list(writers), reapplied))
        own = list(takewhile(lambda change: change in mine, line))
        if own:
            steps.append(EntryStep(owner_id, key, own[-1], max(writers)))
        elif not mine.isdisjoint(line):
            unchanged.append(
                UnchangedRow(
                    UnchangedReason.CHANGED_SINCE,
                    key,
                    owner_id,
                    by=writers[line[0]],
                )
            )
    return steps, unchanged


def iterate_line(ids: Sequence[int], reapplied: Mapping[int, int]) -> Iterator[int]:
    """Yield the changes that led to the value of an entry, newest first; without those that were undone."""
    place = len(ids) - 1
    while place >= 0:
        if ids[place] in reapplied:
            place = ids.index(reapplied[ids[place]]) - 1
        else:
            yield ids[place]
            place -= 1
