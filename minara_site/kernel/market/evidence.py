"""The news and on-chain sources as evidence: what happened to an asset, or a note that nobody was asked. Source: S0."""

from datetime import datetime

from minara_site.kernel.market.core.evidence import EvidenceItem
from minara_site.kernel.market.events import EventKind, SourceDisabled, find_events

NOTE = "note"
"""The kind of an item that says what is missing."""


def read_events(
    kind: EventKind,
    asset: str,
    *,
    since: datetime,
    until: datetime,
) -> list[EvidenceItem]:
    """Return what happened to an asset between two moments. Raises SourceFailed.

    A note says that nobody was asked, so that no reader takes silence for calm.
    """
    try:
        events = find_events(kind, asset, since=since, until=until)
    except SourceDisabled as variable:
        return [EvidenceItem(NOTE, kind, f"not looked at: {variable} is not set")]
    return [EvidenceItem(event.kind, event.label, event.text, event.at) for event in events]
