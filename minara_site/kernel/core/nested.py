"""Nested data as text."""

from collections.abc import Iterator, Mapping


def leaves(value: object) -> Iterator[str]:
    """Yield names and values of nested data as text, names in order: `jsonb` keeps no other. Without recursion."""
    waiting = [value]
    while waiting:
        found = waiting.pop()
        if isinstance(found, Mapping):
            waiting += [part for pair in sorted(found.items(), reverse=True) for part in reversed(pair)]
        elif isinstance(found, list | tuple):
            waiting += reversed(found)
        elif found is not None:
            yield str(found)
