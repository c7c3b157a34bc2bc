"""A hundred thousand lines: every wrong one named by its number, the rest stored, memory bounded."""

import json
import resource
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from memory_app.importers.adapters import Format, open_bundle
from memory_app.importers.services import Verdict, run_import
from memory_app.memories.models import Memory

LINES, EVERY = 100_000, 1_000
MAX_MEBIBYTES = 200
WRONG = [b"{", b"[]", b'{"content": "\xff"}', b'{"content": "a\\u0000b"}', b'{"content": "' + b"x" * 5_000 + b'"}']


@pytest.mark.soak
@pytest.mark.django_db
def test_a_hundred_thousand_lines(ana: Any, tmp_path: Path) -> None:
    path = tmp_path / "large.jsonl"
    wrong = set(range(EVERY, LINES + 1, EVERY))
    with path.open("wb") as stream:
        for number in range(1, LINES + 1):
            good = json.dumps({"content": f"memory number {number}"}).encode()
            stream.write((WRONG[number // EVERY % len(WRONG)] if number in wrong else good) + b"\n")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for apply in (False, True):
        counts: Counter[str] = Counter()
        refused = set()
        bundle = open_bundle(path, Format.JSONL)
        for each in run_import(
            owner=ana,
            bundle=bundle,
            apply=apply,
            now=timezone.now(),
            actor="command:import",
        ):
            counts[each.verdict] += 1
            if each.verdict is Verdict.REJECTED:
                refused.add(each.line)
        assert counts == {"new": LINES - len(wrong), "rejected": len(wrong)}
        assert refused == wrong
        assert Memory.objects.count() == (LINES - len(wrong) if apply else 0)
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    assert grown < MAX_MEBIBYTES
