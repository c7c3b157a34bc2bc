"""Collecting the evidence of one decision: each source of its role in turn, whatever one of them does."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, assert_never

import structlog

from memory_app.roles.core.declarations import NewsSnapshot, OnchainSnapshot, PostHocProbe, RefetchSource
from memory_app.roles.core.prompts import Piece
from memory_app.roles.posthoc.mapper import map_parameters
from memory_app.roles.posthoc.snapshots import NEWS, ONCHAIN, SnapshotSource, news_source, onchain_source, snapshot
from memory_app.roles.posthoc.sources import Look, find_source
from memory_app.roles.subject import find_asset
from minara_site.kernel.core.fence import fence_text
from minara_site.kernel.db import read_only

MOST_PIECES = 24
MAX_PIECE_CHARS = 400
MAX_PAGE_CHARS = 1_600
MAX_LABEL_CHARS = 80

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Decision:
    """What evidence is collected for."""

    entry_id: int
    asset: str
    inputs: Mapping[str, Any]


def collect_evidence(decision: Decision, probes: Iterable[PostHocProbe], look: Look) -> tuple[Piece, ...]:
    """Return what the role's sources say, in their order, bounded. A source that fails leaves a note in its place."""
    found: list[Piece] = []
    for probe in probes:
        found += ask_safely(decision, probe, look)
    return tuple(bounded(piece) for piece in found[:MOST_PIECES])


def ask_safely(decision: Decision, probe: PostHocProbe, look: Look) -> list[Piece]:
    """Return what one source says, or a note that it failed."""
    name, ask = way_to(probe)
    try:
        return list(ask(decision, look))
    except Exception as error:  # noqa: BLE001 - the boundary: whatever a source raises, the reflection goes on
        log.warning("evidence_source_failed", source=name, entry_id=decision.entry_id, error=type(error).__name__)
        return [Piece("note", name, f"this source failed ({type(error).__name__}); what it knows is missing here")]


def way_to(probe: PostHocProbe) -> tuple[str, Callable[[Decision, Look], Iterable[Piece]]]:
    """Return the name of a source and how it is asked."""
    match probe:
        case RefetchSource():
            return probe.tool, lambda decision, look: refetch(probe, decision, look)
        case NewsSnapshot():
            return NEWS, lambda decision, look: take(news_source(), probe.asset_field, decision, look)
        case OnchainSnapshot():
            return ONCHAIN, lambda decision, look: take(onchain_source(), probe.asset_field, decision, look)
        case _:
            assert_never(probe)


def refetch(probe: RefetchSource, decision: Decision, look: Look) -> Iterable[Piece]:
    """Run a tool again while the database refuses writes. Raises LookupError for an unknown one, and what it raises."""
    source = find_source(probe.tool)
    if source is None:
        raise LookupError(probe.tool)
    parameters = map_parameters(probe.param_mapper, decision.inputs, source.parameters)
    with read_only():
        return list(source.run(look, **parameters))


def take(source: SnapshotSource, field: str, decision: Decision, look: Look) -> list[Piece]:
    """Return a snapshot about the asset that an input names; what is no symbol reaches no endpoint."""
    asset = find_asset(decision.inputs, field) or decision.asset
    if not asset:
        return [Piece("note", field, "not looked at: the decision names no asset")]
    return snapshot(source, asset, since=look.decided_at, until=min(look.outcome_at, look.now))


def bounded(piece: Piece) -> Piece:
    """Return a piece that can be stored and shown: one line of bounded length without controls."""
    most = MAX_PAGE_CHARS if piece.kind == "page" else MAX_PIECE_CHARS
    kind, label = fence_text(piece.kind)[:20], fence_text(piece.label)[:MAX_LABEL_CHARS]
    return Piece(kind, label, fence_text(piece.text)[:most], piece.at)
