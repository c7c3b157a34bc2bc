"""Reads of the financial profile: its row, and the whole portrait as data. Sources: S3, contract (GET /v1/profile)."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from learning_app.preferences.limits import limit_records, load_limits
from memory_app.memories.conflicts import find_marks, load_left_out, mark_record
from memory_app.memories.models import Memory
from memory_app.memories.selectors import read_memories
from minara_site.access.models import User
from minara_site.kernel.core.vocabulary import Category
from minara_site.kernel.guard import core as guard
from minara_site.kernel.guard.masking import mask, masked_for
from minara_site.kernel.jobs.models import JobRun
from minara_site.kernel.prepared import OWNER_ID, Prepared
from profile_app.documents.core import CUSTOM_PROMPT, PROFILE_SUMMARY
from profile_app.documents.models import Document
from profile_app.documents.selectors import DocumentText, accepted_texts, find_document
from profile_app.portrait.core.profile import (
    INCLUDE_MEMORIES,
    INCLUDE_SUMMARY,
    INCLUDE_TAGS,
    MAX_MEMORIES,
    REFRESH,
    SETTINGS,
    SUMMARIES,
)
from profile_app.portrait.core.wallets import Wallet, parse_wallets
from profile_app.portrait.models import FinancialProfile
from profile_app.portrait.selectors.tags import list_tags, tag_record


def load_profile(owner_id: int) -> FinancialProfile:
    """Return an owner's row, one that is not stored, with the usual settings, where there is none. One query."""
    stored: FinancialProfile | None = FinancialProfile.objects.filter(pk=owner_id).first()
    return stored or FinancialProfile(owner_id=owner_id)


def find_prompt(owner: User) -> Document | None:
    """Return the document of the custom prompt, None where there never was one."""
    return find_document(owner=owner, kind=CUSTOM_PROMPT, name=CUSTOM_PROMPT)


def load_settings(owner_id: int) -> dict[str, bool]:
    """Return the visibility flags of an owner, the usual ones where nothing is stored. One query."""
    stored = STORED_SETTINGS.ask(owner_id=owner_id)
    return stored[0] if stored else settings_record(FinancialProfile())


STORED_SETTINGS = Prepared(
    lambda *flags: dict(zip(SETTINGS, map(bool, flags), strict=True)),
    lambda: [FinancialProfile.objects.filter(pk=OWNER_ID).values_list(*SETTINGS)],
)


def load_wallets(owner: User, *, reader: User) -> tuple[Wallet, ...]:
    """Return the reference wallets; secrets in the labels of another owner are masked."""
    wallets = parse_wallets(load_profile(owner.pk).reference_wallets_json)
    return wallets if owner.pk == reader.pk else tuple(Wallet(each.address, mask(each.label)) for each in wallets)


def load_profile_texts(owner_id: int) -> dict[str, str]:
    """Return the custom prompt and the summaries that prompts carry, by name; their names differ. One query."""
    rows = PROFILE_TEXTS.ask(owner_id=owner_id)
    by_kind = [
        (
            kind,
            [row for of_kind, row in rows if of_kind == kind],
        )
        for kind in TEXT_KINDS
    ]
    return {name: text for kind, texts in by_kind for name, text in accepted_texts(kind, texts).items()}


TEXT_KINDS = (CUSTOM_PROMPT, PROFILE_SUMMARY)
PROFILE_TEXTS = Prepared(
    lambda kind, *row: (kind, DocumentText(*row)),
    lambda: [
        Document.objects.filter(owner_id=OWNER_ID, kind__in=TEXT_KINDS)
        .exclude(content="")
        .values_list("kind", *DocumentText._fields)
    ],
)


def load_custom_prompt(owner: User) -> str:
    """Return the custom prompt that prompts carry, empty without one."""
    return load_profile_texts(owner.pk).get(CUSTOM_PROMPT, "")


def summaries_of(texts: Mapping[str, str]) -> dict[str, str]:
    """Return both trading summaries of the texts of a profile, each empty without one."""
    return {name: texts.get(name, "") for name in SUMMARIES}


def load_newest_memories(owner: User) -> list[Memory]:
    """Return the newest personalization memories that the guard lets in."""
    return read_memories(
        owner=owner,
        category=Category.PERSONALIZATION,
        limit=MAX_MEMORIES,
    )


def find_last_refresh(owner_id: int) -> datetime | None:
    """Return when a refresh of this owner's portrait was last asked for."""
    runs = JobRun.objects.filter(job=REFRESH, arguments__owner_id=owner_id)
    return runs.order_by("-created_at").values_list("created_at", flat=True).first()


def settings_record(profile: FinancialProfile) -> dict[str, bool]:
    """Return the visibility flags."""
    return {name: bool(getattr(profile, name)) for name in SETTINGS}


def wallet_records(wallets: tuple[Wallet, ...]) -> list[dict[str, Any]]:
    """Return wallets as the API answers them, without labels that today's guard refuses."""
    labels = ["" if guard.judge(each.label).is_held else each.label for each in wallets]
    return [{"address": each.address, "label": label or None} for each, label in zip(wallets, labels, strict=True)]


def profile_record(owner: User, *, reader: User) -> dict[str, Any]:
    """Return the portrait as the API answers it; secrets of another owner are masked."""
    is_own = owner.pk == reader.pk
    shown = str if is_own else mask
    texts = load_profile_texts(owner.pk)
    memories = [masked_for(reader, memory) for memory in load_newest_memories(owner)]
    marks = find_marks([memory.pk for memory in memories])
    return {
        "trading_summary": {name: shown(text) for name, text in summaries_of(texts).items()},
        "memories": [memory_record(memory) | mark_record(marks.get(memory.pk)) for memory in memories],
        "tags": [tag_record(tag) for tag in list_tags(owner=owner)],
        "custom_prompt": shown(texts.get(CUSTOM_PROMPT, "")),
        "settings": load_settings(owner.pk),
        "reference_wallets": wallet_records(load_wallets(owner, reader=reader)),
    }


def agent_record(owner: User, *, reader: User) -> dict[str, Any]:
    """Return the portrait as an agent reads it: limits first, and without what its owner keeps out of prompts."""
    limits = limit_records(load_limits(owner.pk), is_masked=owner.pk != reader.pk)
    record = {"limits": limits, **profile_record(owner, reader=reader)}
    told, left_out = {each["id"] for each in limits}, load_left_out(owner.pk)
    record["memories"] = [
        each for each in record["memories"] if f"memory:{each['id']}" not in told and each["id"] not in left_out
    ]
    settings = record["settings"]
    if not settings[INCLUDE_MEMORIES]:
        record["memories"] = []
    if not settings[INCLUDE_SUMMARY]:
        record["trading_summary"] = dict.fromkeys(SUMMARIES, "")
    if not settings[INCLUDE_TAGS]:
        record["tags"] = []
    return record


def memory_record(memory: Memory) -> dict[str, Any]:
    """Return a memory of the portrait as the API answers it."""
    return {
        "id": memory.pk,
        "statement": memory.content,
        "subcategory": memory.fact_type or None,
        "created_at": memory.created_at,
    }
