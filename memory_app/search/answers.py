"""How hits and notes read at the doors."""

from collections.abc import Sequence
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from memory_app.index.core.parser import MAX_QUERY_CHARS
from memory_app.memories.conflicts import find_marks, mark_record
from memory_app.search.core.rank import Fused, Part
from memory_app.search.selectors import Hit
from minara_site.access.actors import name_writers
from minara_site.access.models import User

MAX_TYPED_CHARS = 4 * MAX_QUERY_CHARS
"""What the boxes take: more than counts, so that what is cut is said, and no more than an address may hold."""

FEATURES: dict[str, str | Promise] = {
    "coverage": _("words of the query in it"),
    "closeness": _("as typed, side by side"),
    "meaning": _("meaning, against the usual"),
    "before": _("words in the memory before it"),
    "after": _("words in the memory after it"),
    "answers": _("answers a question about it"),
    "when": _("names a time that was asked for"),
    "question": _("is a question itself"),
    "short": _("very short"),
    "long": _("long"),
    "speaker": _("said by a named person"),
}


def parts_of(hit: Hit) -> list[tuple[str | Promise, Part]]:
    """Return in words the features that made a hit's score in the default fusion, the weightiest first."""
    fused = hit.explain.fused if hit.explain else None
    parts = [part for part in fused.parts if part.value] if fused else []
    return [(FEATURES[part.name], part) for part in sorted(parts, key=lambda part: -abs(part.contribution))]


def fused_record(fused: Fused) -> dict[str, Any]:
    """Return how words and meaning made a hit's score; `features` are those of the default fusion."""
    return {
        "name": fused.fusion.value,
        "text_rank": fused.text_rank or None,
        "meaning_rank": fused.meaning_rank or None,
        "cosine": fused.cosine,
        "features": [
            {
                "name": part.name,
                "value": round(part.value, 6),
                "contribution": round(part.contribution, 6),
            }
            for part in fused.parts
        ],
    }


def hit_records(hits: Sequence[Hit], *, reader: User) -> list[dict[str, Any]]:
    """Return hits as API and tools answer them (contract). One query for conflicts, two at most for writers."""
    marks = find_marks([hit.id for hit in hits])
    return [
        hit_record(hit, writer) | mark_record(marks.get(hit.id))
        for hit, writer in zip(
            hits,
            name_writers(hits, reader=reader),
            strict=True,
        )
    ]


def hit_record(hit: Hit, writer: dict[str, str]) -> dict[str, Any]:
    """Return a hit with whose word it is; `explain` only when it was asked for."""
    record: dict[str, Any] = {
        "id": hit.id,
        "category": hit.category,
        "content": hit.content,
        "source": hit.source,
        "writer": writer,
        "score": round(hit.score, 6),
        "updated_at": hit.updated_at,
    }
    if hit.explain is not None:
        record["explain"] = {
            "matched": list(hit.explain.matched),
            "bm25": round(hit.explain.bm25, 6),
            "closeness": round(hit.explain.closeness, 6),
            "entities": list(hit.explain.entities),
            "rank_before": hit.explain.rank_before,
            "rank": hit.explain.rank,
        }
        if hit.explain.fused is not None:
            record["explain"]["fusion"] = fused_record(hit.explain.fused)
    return record
