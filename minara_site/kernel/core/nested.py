"""Nested data as text."""

from collections.abc import Iterator, Mapping


def leaves(value: object) -> Iterator[str]:
    """Yield the names and values of nested data in order, as text; without recursion, however deep it is."""
    waiting = [value]
    while waiting:
        found = waiting.pop()
        if isinstance(found, Mapping):
            waiting += [part for pair in reversed(list(found.items())) for part in reversed(pair)]
        elif isinstance(found, list | tuple):
            waiting += reversed(found)
        elif found is not None:
            yield str(found)
