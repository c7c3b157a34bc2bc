"""A text in pieces, some of them marked, and the window around the first mark."""

from collections.abc import Iterable, Iterator, Sequence

Segment = tuple[str, bool]
"""A piece of a text, and whether it is marked."""

EXCERPT_CHARS = 320
LEAD_CHARS = 60


def cut(text: str, spans: Iterable[tuple[int, int]]) -> tuple[Segment, ...]:
    """Return the text in pieces along the spans, which may overlap."""
    segments: list[Segment] = []
    done = 0
    for start, end in merged(spans):
        if start > done:
            segments.append((text[done:start], False))
        segments.append((text[start:end], True))
        done = end
    return (*segments, (text[done:], False)) if done < len(text) else tuple(segments)


def merged(spans: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield the spans in order, those that touch as one."""
    current: tuple[int, int] | None = None
    for start, end in sorted(spans):
        if current and start <= current[1]:
            current = (current[0], max(current[1], end))
        else:
            if current:
                yield current
            current = (start, end)
    if current:
        yield current


def excerpt(segments: Sequence[Segment], *, limit: int = EXCERPT_CHARS) -> tuple[Segment, ...]:
    """Return about `limit` characters around the first hit, with … where text is left out."""
    total = sum(len(text) for text, _is_hit in segments)
    if total <= limit:
        return tuple(segments)
    first = 0
    for text, is_hit in segments:
        if is_hit:
            break
        first += len(text)
    start = max(0, min(first - LEAD_CHARS, total - limit)) if first < total else 0
    return tuple(window(segments, start, start + limit, total))


def window(
    segments: Sequence[Segment],
    start: int,
    end: int,
    total: int,
) -> Iterator[Segment]:
    """Yield the pieces between two offsets."""
    if start > 0:
        yield "…", False
    at = 0
    for text, is_hit in segments:
        piece = text[max(0, start - at) : max(0, end - at)]
        if piece:
            yield piece, is_hit
        at += len(text)
    if end < total:
        yield "…", False
