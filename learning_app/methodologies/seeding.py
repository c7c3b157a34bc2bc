"""Well-known analysis methods to begin with; they earn trust like every other. Source: `seeds.toml`."""

from datetime import datetime
from typing import Any

from learning_app.methodologies.core.structure import StructuredMethodology
from learning_app.methodologies.models import Methodology
from learning_app.methodologies.services.create import MethodologyDraft, create_methodology
from learning_app.vocabulary import Indicator, PrimarySignal, Timeframe
from minara_site.kernel.core.assets import AssetClass
from minara_site.kernel.core.data_files import load_toml
from minara_site.kernel.market.outcome import Direction

SEED_ORIGIN = "seed"


def load_seeds() -> list[MethodologyDraft]:
    """Return the methods of the data file."""
    return [draft_of(each) for each in load_toml(__package__, "seeds.toml")["methodologies"]]


def draft_of(seed: dict[str, Any]) -> MethodologyDraft:
    """Return one entry of a data file as the service takes it."""
    structured = StructuredMethodology(
        Direction(seed["direction"]),
        PrimarySignal(seed["primary_signal"]),
        Timeframe(seed["timeframe"]),
        tuple(map(Indicator, seed["indicators"])),
        AssetClass(seed["asset_class"]),
    )
    return MethodologyDraft(
        seed["name"],
        seed["methodology"],
        structured,
        seed.get("evidence", ""),
        seed.get("phases") or None,
    )


def store_seeds(*, actor: str, now: datetime) -> tuple[int, int]:
    """Store those that are not there yet, in quarantine; return how many are new, and how many were there."""
    drafts = {draft.structured.dedup_key: draft for draft in load_seeds()}
    known = set(Methodology.objects.filter(dedup_key__in=drafts).values_list("dedup_key", flat=True))
    new = [draft for key, draft in drafts.items() if key not in known]
    created = [
        create_methodology(
            draft=draft,
            actor=actor,
            origin=SEED_ORIGIN,
            now=now,
        ).is_new
        for draft in new
    ]
    return sum(created), len(drafts) - sum(created)
