"""Headlines and on-chain figures between a decision and its outcome, from whom the settings name. Source: S0."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from django.conf import settings

from memory_app.roles.core.prompts import Piece
from memory_app.roles.posthoc.adapters.http import HttpSnapshots

NEWS, ONCHAIN = "news", "onchain"
MOST_ITEMS = 10


class SnapshotSource(Protocol):
    """Somebody who knows what happened around an asset."""

    def fetch(self, asset: str, *, since: datetime, until: datetime) -> Iterable[Piece]:
        """Return what happened from one moment to the other, the most telling first. Raises SourceFailed."""


@dataclass(frozen=True, slots=True)
class Disabled:
    """Nobody: the variable of the source is empty."""

    kind: str
    variable: str

    def fetch(self, asset: str, *, since: datetime, until: datetime) -> Iterable[Piece]:
        """Say that nobody was asked, so that no stage takes silence for calm."""
        return [Piece("note", self.kind, f"not looked at: {self.variable} is not set")]


def news_source() -> SnapshotSource:
    """Return who is asked for headlines."""
    url = settings.MINARA.minara_news_url
    return HttpSnapshots(NEWS, url) if url else Disabled(NEWS, "MINARA_NEWS_URL")


def onchain_source() -> SnapshotSource:
    """Return who is asked for on-chain figures."""
    url = settings.MINARA.minara_onchain_url
    return HttpSnapshots(ONCHAIN, url) if url else Disabled(ONCHAIN, "MINARA_ONCHAIN_URL")


def snapshot(source: SnapshotSource, asset: str, *, since: datetime, until: datetime) -> list[Piece]:
    """Return at most ten pieces from the time between decision and outcome, by time; what lies outside is dropped."""
    inside = [
        piece
        for piece in source.fetch(asset, since=since, until=until)
        if piece.at is None or since <= piece.at <= until
    ]
    return sorted(inside[:MOST_ITEMS], key=lambda piece: piece.at or since)
