"""How the profile looks on its page: what prompts carry and what that costs, the summary, the wallets."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from memory_app.memories.prompt_rows import load_prompt_rows
from minara_site.access.models import User
from minara_site.kernel.guard.masking import mask, masked_for
from minara_site.web.charts import percent
from profile_app.activity.core.figures import Figures
from profile_app.activity.selectors import load_trading_profile
from profile_app.documents.pages import shape_waiting
from profile_app.portrait.core.profile import (
    INCLUDE_MEMORIES,
    INCLUDE_SUMMARY,
    INCLUDE_TAGS,
    PLATFORM_SUMMARY,
    REFERENCE_SUMMARY,
    refresh_wait,
)
from profile_app.portrait.core.sections import Portrait, costs_of
from profile_app.portrait.core.wallets import MAX_WALLETS, Wallet, parse_wallets
from profile_app.portrait.models import FinancialProfile
from profile_app.portrait.selectors.profile import (
    find_last_refresh,
    find_prompt,
    load_profile,
    load_profile_texts,
    settings_record,
    summaries_of,
)
from profile_app.portrait.selectors.tags import stable_tags
from profile_app.rebuild.core import Flow
from profile_app.rebuild.labels import FLOWS, outcome_label, reason_label
from profile_app.rebuild.models import RebuildRun
from profile_app.rebuild.selectors import DAYS, why_not

MAX_BARS = 8

SWITCHES: dict[str, tuple[str | Promise, str | Promise]] = {
    INCLUDE_MEMORIES: (
        _("Memories"),
        _("Personalization memories and settled facts. Without them no prompt has any, also not under Observations."),
    ),
    INCLUDE_SUMMARY: (_("Trading summary"), _("What is known of your trades.")),
    INCLUDE_TAGS: (_("Tags"), _("Declared and inferred tags.")),
}
SUMMARY_LABELS = {
    PLATFORM_SUMMARY: _("Your wallets"),
    REFERENCE_SUMMARY: _("Reference wallets"),
}


def page_context(owner: User, reader: User, *, now: datetime) -> dict[str, Any]:
    """Return what the page shows of an owner's profile; secrets of another owner are masked. 17 queries at most."""
    profile, is_own = load_profile(owner.pk), owner.pk == reader.pk
    shown = str if is_own else mask
    document = find_prompt(owner)
    summaries = summaries_of(load_profile_texts(owner.pk))
    memories = load_prompt_rows(owner=owner, is_hidden=False).personalization
    costs = costs_of(Portrait(summaries, stable_tags(owner.pk), memories))
    wallets = parse_wallets(profile.reference_wallets_json)
    last = find_last_refresh(owner.pk)
    return {
        "is_own": is_own,
        "owner_name": "" if is_own else owner.username,
        "document": masked_for(reader, document) if document else None,
        "waiting": shape_waiting(document, reader=reader) if document else None,
        "switches": shape_switches(settings_record(profile), costs),
        "summary": [(SUMMARY_LABELS[name], shown(text)) for name, text in summaries.items() if text],
        "summary_updated_at": profile.trading_summary_updated_at,
        "wallets": [Wallet(each.address, shown(each.label)) for each in wallets],
        "max_wallets": MAX_WALLETS,
        "markets": shape_bars(owner, now=now),
        "days_shown": DAYS,
        "runs": [last_run(owner, profile, flow) for flow in Flow],
        "why_not": reason_label(why_not()),
        "last_refresh": last,
        "wait_seconds": refresh_wait(last, now).total_seconds(),
    }


def shape_bars(owner: User, *, now: datetime) -> list[tuple[str, Figures, float]]:
    """Return the markets of these days, the most volume first, each with its share of the largest in percent."""
    trading = load_trading_profile(owner, now=now, days=DAYS)
    most = sorted(trading.by_market.items(), key=lambda each: (-each[1].volume_usd, each[0]))[:MAX_BARS]
    largest = float(most[0][1].volume_usd) if most else 0
    return [(symbol, figures, percent(float(figures.volume_usd), largest)) for symbol, figures in most]


def last_run(owner: User, profile: FinancialProfile, flow: Flow) -> dict[str, Any]:
    """Return what a flow did last, and from when it may ask again. One query."""
    run = RebuildRun.objects.for_owner(owner).filter(flow=flow).order_by("-pk").first()
    return {
        "flow": FLOWS[flow],
        "run": run,
        "outcome": outcome_label(run) if run else "",
        "next_at": getattr(profile, flow.next_column),
    }


def shape_switches(settings: Mapping[str, bool], costs: Mapping[str, int]) -> list[dict[str, Any]]:
    """Return the parts of the prompt: whether each is carried, and about how many tokens it costs when it is."""
    return [
        {"name": name, "label": label, "hint": hint, "is_on": settings[name], "tokens": costs[name]}
        for name, (label, hint) in SWITCHES.items()
    ]
