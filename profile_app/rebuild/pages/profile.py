"""How the profile looks on its page: what prompts carry and what that costs, the summary, the wallets."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from memory_app.memories.prompt_rows import load_prompt_rows
from minara_site.access.models import User
from minara_site.kernel.core.tokens import estimate_tokens
from minara_site.kernel.guard.masking import mask, masked_for
from minara_site.web.charts import percent
from profile_app.activity.core.figures import Figures
from profile_app.activity.selectors import load_trading_profile
from profile_app.documents.core import CUSTOM_PROMPT
from profile_app.documents.models import Document
from profile_app.documents.pages import count_text, shape_waiting
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
from profile_app.rebuild.labels import FLOWS, outcome_label, reason_label, run_url
from profile_app.rebuild.models import RebuildRun
from profile_app.rebuild.selectors import DAYS, list_last_runs, why_not

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


@dataclass(frozen=True, slots=True)
class SwitchRow:
    """One part of the prompt: whether it is carried, and about how many tokens it costs when it is."""

    name: str
    label: str | Promise
    hint: str | Promise
    is_on: bool
    tokens: int


@dataclass(frozen=True, slots=True)
class SummaryPart:
    """A trading summary that is known."""

    label: str | Promise
    text: str


@dataclass(frozen=True, slots=True)
class MarketBar:
    """What was traded in one market; `share` is its volume in percent of the largest."""

    symbol: str
    figures: Figures
    share: float


@dataclass(frozen=True, slots=True)
class LastRun:
    """The newest run of a flow in words, and from when it may ask again."""

    run: RebuildRun | None
    flow: Any
    outcome: str
    url: str
    next_at: datetime | None


@dataclass(frozen=True, slots=True)
class WalletRow:
    """A wallet, and on which kind of chain its address is."""

    address: str
    label: str
    chain: str


def page_context(owner: User, reader: User, *, now: datetime) -> dict[str, Any]:
    """Return what the page shows of an owner's profile; secrets of another owner are masked. 17 queries at most."""
    profile, is_own = load_profile(owner.pk), owner.pk == reader.pk
    document = find_prompt(owner)
    summaries = summaries_of(load_profile_texts(owner.pk))
    memories = load_prompt_rows(owner=owner, is_hidden=False).personalization
    costs = costs_of(Portrait(summaries, stable_tags(owner.pk), memories))
    last = find_last_refresh(owner.pk)
    return {
        "is_own": is_own,
        "owner_name": "" if is_own else owner.username,
        "document": masked_for(reader, document) if document else None,
        "waiting": shape_waiting(document, reader=reader) if document else None,
        "switches": shape_switches(settings_record(profile), costs),
        "summary": shape_summary(summaries, is_own=is_own),
        "summary_updated_at": profile.trading_summary_updated_at,
        "wallets": shape_wallets(parse_wallets(profile.reference_wallets_json), is_own=is_own),
        "max_wallets": MAX_WALLETS,
        "markets": shape_bars(owner, now=now),
        "days_shown": DAYS,
        "runs": shape_runs(owner, profile, is_own=is_own),
        "why_not": reason_label(why_not()),
        "last_refresh": last,
        "wait_seconds": refresh_wait(last, now).total_seconds(),
    }


def shape_bars(owner: User, *, now: datetime) -> list[MarketBar]:
    """Return the markets that an owner traded in these days, the most volume first. Two queries."""
    trading = load_trading_profile(owner, now=now, days=DAYS)
    most = sorted(trading.by_market.items(), key=lambda each: (-each[1].volume_usd, each[0]))[:MAX_BARS]
    largest = float(most[0][1].volume_usd) if most else 0
    return [MarketBar(symbol, figures, percent(float(figures.volume_usd), largest)) for symbol, figures in most]


def shape_runs(owner: User, profile: FinancialProfile, *, is_own: bool) -> list[LastRun]:
    """Return what each flow did last. Three queries."""
    last = {run.flow: run for run in list_last_runs(owner)}
    return [
        LastRun(
            run := last.get(flow),
            FLOWS[flow],
            outcome_label(run.outcome, run.reason) if run else "",
            run_url(run, owner, is_own=is_own) if run else "",
            getattr(profile, flow.next_column),
        )
        for flow in Flow
    ]


def shape_switches(settings: Mapping[str, bool], costs: Mapping[str, int]) -> list[SwitchRow]:
    """Return the three parts, each with its cost whether it is on or off."""
    return [
        SwitchRow(
            name,
            label,
            hint,
            settings[name],
            costs[name],
        )
        for name, (label, hint) in SWITCHES.items()
    ]


def shape_summary(summaries: dict[str, str], *, is_own: bool) -> list[SummaryPart]:
    """Return the summaries that say something."""
    return [
        SummaryPart(SUMMARY_LABELS[name], text if is_own else mask(text)) for name, text in summaries.items() if text
    ]


def shape_wallets(wallets: Sequence[Wallet], *, is_own: bool) -> list[WalletRow]:
    """Return the wallets in their order."""
    return [
        WalletRow(
            each.address,
            each.label if is_own else mask(each.label),
            "EVM" if each.address[1] == "x" else "Solana",
        )
        for each in wallets
    ]


def counted(text: str, document: Document | None) -> dict[str, Any]:
    """Return how long a text for the custom prompt is, what it costs, and what the guard finds in it."""
    return count_text(text, document, kind=CUSTOM_PROMPT, tokens=estimate_tokens(text))
