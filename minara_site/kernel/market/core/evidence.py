"""One item of evidence about a market, as it is stored and as a model reads it: one bounded line. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from minara_site.kernel.core.fence import fence_label, fence_text

MAX_ITEM_CHARS = 400
MAX_PAGE_CHARS = 1_600
MAX_LABEL_CHARS = 80


@dataclass(frozen=True, slots=True)
class EvidenceItem:
    """One item of evidence as it is stored and read. `at` is when it was so, None when that is not known."""

    kind: str
    label: str
    text: str
    at: datetime | None = None

    def as_json(self) -> dict[str, Any]:
        """Return it as the row keeps it."""
        return {
            "kind": self.kind,
            "label": self.label,
            "at": self.at.isoformat() if self.at else None,
            "text": self.text,
        }

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> "EvidenceItem":
        """Return what a row keeps."""
        at = datetime.fromisoformat(stored["at"]) if stored.get("at") else None
        return cls(
            str(stored["kind"]),
            str(stored["label"]),
            str(stored["text"]),
            at,
        )


def bounded(item: EvidenceItem) -> EvidenceItem:
    """Return an item that can be stored and shown: one line of bounded length without controls."""
    most = MAX_PAGE_CHARS if item.kind == "page" else MAX_ITEM_CHARS
    kind, label = fence_text(item.kind)[:20], fence_text(item.label)[:MAX_LABEL_CHARS]
    return EvidenceItem(
        kind,
        label,
        fence_text(item.text)[:most],
        item.at,
    )


def evidence_line(item: EvidenceItem) -> str:
    """Return an item as one line for a fenced block."""
    at = f", {moment(item.at)}" if item.at else ""
    return f"[{fence_label(item.kind)}: {fence_label(item.label)}{at}] {fence_text(item.text)}"


def moment(at: datetime) -> str:
    """Return a moment to the minute."""
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
