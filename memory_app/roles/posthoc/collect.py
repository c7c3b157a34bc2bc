"""Collecting the evidence of one decision: each source of its role in turn, whatever one of them does."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import structlog

from memory_app.roles.core.declarations import NewsSnapshot, OnchainSnapshot, PostHocProbe, RefetchSource
from memory_app.roles.posthoc.mapper import map_parameters
from memory_app.roles.posthoc.sources import EvidenceContext, find_source
from memory_app.roles.subject import find_asset
from minara_site.kernel.db import read_only
from minara_site.kernel.market.core.evidence import EvidenceItem, bounded
from minara_site.kernel.market.events import EventKind
from minara_site.kernel.market.evidence import NOTE, read_events

MAX_ITEMS = 24
EVENTS = {NewsSnapshot: EventKind.NEWS, OnchainSnapshot: EventKind.ONCHAIN}

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class EvidenceSubject:
    """What evidence is collected for."""

    entry_id: int
    asset: str
    inputs: Mapping[str, Any]


def collect_evidence(
    decision: EvidenceSubject,
    probes: Iterable[PostHocProbe],
    context: EvidenceContext,
) -> tuple[EvidenceItem, ...]:
    """Return what the role's sources say, in their order, bounded. A source that fails leaves a note in its place."""
    found: list[EvidenceItem] = []
    for probe in probes:
        found += call_source(decision, probe, context)
    return tuple(bounded(item) for item in found[:MAX_ITEMS])


def call_source(
    decision: EvidenceSubject,
    probe: PostHocProbe,
    context: EvidenceContext,
) -> Iterable[EvidenceItem]:
    """Return what one source says, or a note that it failed."""
    name = probe.tool if isinstance(probe, RefetchSource) else EVENTS[type(probe)]
    try:
        if isinstance(probe, RefetchSource):
            return refetch(probe, decision, context)
        return collect_events(probe, decision, context)
    except Exception as error:  # noqa: BLE001 - the boundary: whatever a source raises, the reflection goes on
        kind = type(error).__name__
        log.warning(
            "evidence_source_failed",
            source=name,
            entry_id=decision.entry_id,
            error=kind,
        )
        return [EvidenceItem(NOTE, name, f"this source failed ({kind}); what it knows is missing here")]


def refetch(
    probe: RefetchSource,
    decision: EvidenceSubject,
    context: EvidenceContext,
) -> list[EvidenceItem]:
    """Run a tool again while the database refuses writes. Raises LookupError for an unknown one, and what it raises."""
    source = find_source(probe.tool)
    if source is None:
        raise LookupError(probe.tool)
    parameters = map_parameters(probe.param_mapper, decision.inputs, source.parameters)
    with read_only():
        return list(source.run(context, **parameters))


def collect_events(
    probe: NewsSnapshot | OnchainSnapshot,
    decision: EvidenceSubject,
    context: EvidenceContext,
) -> list[EvidenceItem]:
    """Return what happened to the asset that an input names; what is no symbol reaches no endpoint."""
    kind, field = EVENTS[type(probe)], probe.asset_field
    asset = find_asset(decision.inputs, field) or decision.asset
    if not asset:
        return [EvidenceItem(NOTE, field, "not looked at: the decision names no asset")]
    return read_events(
        kind,
        asset,
        since=context.decided_at,
        until=min(context.outcome_at, context.now),
    )
