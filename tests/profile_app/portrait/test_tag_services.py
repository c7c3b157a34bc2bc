"""Tags: who may say what, what is kept, what comes back (R-32, R-34)."""

from datetime import timedelta

import pytest
from django.db import IntegrityError, transaction

from minara_site.kernel.audit_log.models import AuditEntry
from minara_site.kernel.errors import Conflict, Invalid, NotFound
from profile_app.portrait.core.tags import SCHEMA, STRENGTH, TagSource
from profile_app.portrait.models import UserTag, UserTagEvent
from profile_app.portrait.selectors.tags import find_claim, load_history, prompt_tags
from profile_app.portrait.services.tags import (
    clear_tag,
    confirm_tag,
    set_tag,
    set_tags,
    undo_change,
    union_markets,
    withdraw_tag,
)
from tests.kit.clock import NOON
from tests.kit.tables import table

pytestmark = pytest.mark.django_db

USER, LEARNED, INFERRED = TagSource.USER, TagSource.LEARNED_PREFERENCE, TagSource.INFERRED
VALUES = {USER: "conservative", LEARNED: "balanced", INFERRED: "aggressive"}


def say(owner, source, value="", *, name="risk", now=NOON, origin=""):
    return set_tag(
        owner=owner,
        name=name,
        value=value or VALUES[source],
        source=source,
        actor="test",
        now=now,
        origin=origin,
    )


def clear(owner, name="risk"):
    return clear_tag(owner=owner, name=name, actor="test", now=NOON)


def counts(owner, name="risk"):
    return UserTag.objects.filter(owner=owner, name=name).values_list("value", "source").first()


def kinds(owner):
    return list(UserTagEvent.objects.filter(owner=owner).order_by("pk").values_list("kind", flat=True))


def acts(owner):
    return list(AuditEntry.objects.filter(owner_id=owner.pk).order_by("pk").values_list("tool_call", flat=True))


@table(("first", "second"), [(first, second) for first in TagSource for second in TagSource])
def test_a_weaker_source_never_replaces_a_stronger_one(ana, first, second):
    say(ana, first)
    change = say(ana, second)
    stands = second if STRENGTH[second] >= STRENGTH[first] else first
    assert counts(ana) == (VALUES[stands], stands)
    assert change.kind == ("" if first is second else "set" if stands is second else "outranked")
    assert UserTag.objects.filter(owner=ana).count() == 1


def test_inferences_over_declared_tags_change_none(ana):
    """R-34: whatever a rebuild says of every dimension, twice, nothing that is declared changes."""
    first = {name: list(values)[:1] if name == "markets" else next(iter(values)) for name, values in SCHEMA.items()}
    last = {name: list(values)[1:] if name == "markets" else list(values)[-1] for name, values in SCHEMA.items()}
    set_tags(owner=ana, values=first, source=USER, actor="test", now=NOON)
    before = list(UserTag.objects.order_by("pk").values())
    for _again in range(2):
        set_tags(owner=ana, values=last, source=INFERRED, actor="job:test", now=NOON + timedelta(days=30))
    assert list(UserTag.objects.order_by("pk").values()) == before
    assert kinds(ana) == ["set"] * 10 + ["outranked"] * 10
    assert acts(ana) == ["tag_set", "tag_outranked"]


def test_one_wrong_value_of_several_writes_nothing_and_names_each(ana):
    wrong = {"risk": "Conservative", "frequency": "weekly", "markets": '["stocks"]', "style": ["technical"]}
    with pytest.raises(Invalid) as refused:
        set_tags(owner=ana, values=wrong, source=USER, actor="test", now=NOON)
    assert [each.field for each in refused.value.errors] == ["risk", "markets", "style"]
    assert "conservative, balanced, aggressive" in refused.value.errors[0].message
    with pytest.raises(NotFound):
        set_tags(
            owner=ana,
            values={"risk": "balanced", "Risk": "balanced"},
            source=USER,
            actor="test",
            now=NOON,
        )
    assert not UserTag.objects.exists()
    assert not UserTagEvent.objects.exists()


def test_the_same_word_of_the_same_source_changes_nothing(ana):
    for source in (USER, INFERRED):
        say(ana, source)
        assert say(ana, source, now=NOON + timedelta(hours=1)).kind == ""
    assert kinds(ana) == ["set", "outranked"]
    assert UserTag.objects.get(owner=ana).updated_at == NOON


def test_a_cleared_declaration_gives_way_to_what_weaker_sources_said_last(ana):
    say(ana, INFERRED, "balanced")
    say(ana, USER)
    say(ana, INFERRED, "aggressive")
    say(ana, LEARNED, "balanced", origin="preference:7")
    assert clear(ana).kind == "cleared"
    assert counts(ana) == ("balanced", LEARNED)
    assert UserTag.objects.get(owner=ana).origin == "preference:7"
    clear(ana)
    assert counts(ana) == ("aggressive", INFERRED)
    assert clear(ana).tag is None
    assert counts(ana) is None
    with pytest.raises(NotFound):
        clear(ana)


def test_what_was_cleared_or_withdrawn_does_not_come_back(ana):
    say(ana, INFERRED)
    clear(ana)
    say(ana, USER)
    clear(ana)
    assert counts(ana) is None
    say(ana, USER)
    say(ana, LEARNED)
    assert withdraw_tag(owner=ana, name="risk", source=LEARNED, actor="job", now=NOON).kind == "withdrawn"
    assert acts(ana)[-2:] == ["tag_outranked", "tag_cleared"]
    assert counts(ana) == ("conservative", USER)
    assert find_claim(owner=ana, name="risk", source=LEARNED) is None
    assert withdraw_tag(owner=ana, name="risk", source=LEARNED, actor="job", now=NOON).kind == ""
    clear(ana)
    assert counts(ana) is None


def test_confirming_declares_what_was_inferred_and_clearing_brings_it_back(ana):
    say(ana, INFERRED)
    for kind in ("confirmed", ""):
        assert confirm_tag(owner=ana, name="risk", actor="test", now=NOON).kind == kind
    assert counts(ana) == ("aggressive", USER)
    clear(ana)
    assert counts(ana) == ("aggressive", INFERRED)
    with pytest.raises(NotFound):
        confirm_tag(owner=ana, name="style", actor="test", now=NOON)


def test_each_act_is_undone_once_and_not_after_another(ana):
    def undo(change):
        return undo_change(owner=ana, event_id=change.event_id, actor="test", now=NOON)

    say(ana, LEARNED, origin="preference:7")
    confirmed = confirm_tag(owner=ana, name="risk", actor="test", now=NOON)
    undo(confirmed)
    assert counts(ana) == ("balanced", LEARNED)
    undo(clear(ana))
    assert UserTag.objects.values_list("value", "source", "origin").get() == ("balanced", LEARNED, "preference:7")
    declared = say(ana, USER)
    changed = say(ana, USER, "aggressive")
    with pytest.raises(Conflict):
        undo(declared)
    say(ana, INFERRED, "balanced")  # noted only: no reason against an undo
    undo(changed)
    assert counts(ana) == ("conservative", USER)
    undo(clear(ana))
    assert counts(ana) == ("conservative", USER)
    with pytest.raises(NotFound):
        undo_change(owner=ana, event_id=0, actor="test", now=NOON)


def test_a_declaration_is_undone_also_after_what_it_outranked_was_withdrawn(ana):
    say(ana, LEARNED)
    declared = say(ana, USER)
    withdraw_tag(owner=ana, name="risk", source=LEARNED, actor="job", now=NOON)
    undo_change(owner=ana, event_id=declared.event_id, actor="test", now=NOON)
    assert counts(ana) is None
    learned = say(ana, LEARNED)
    withdraw_tag(owner=ana, name="risk", source=LEARNED, actor="job", now=NOON)
    with pytest.raises(Conflict):
        undo_change(owner=ana, event_id=learned.event_id, actor="test", now=NOON)


def test_a_union_of_markets_only_adds_and_keeps_the_source(ana):
    def union(*values):
        return union_markets(owner=ana, values=values, actor="job:test", now=NOON)

    assert union().kind == ""
    union("stocks", "stocks")
    assert counts(ana, "markets") == ('["stocks"]', INFERRED)
    say(ana, USER, ["memes"], name="markets")
    union("crypto_majors")
    assert counts(ana, "markets") == ('["crypto_majors","memes"]', USER)
    assert union("memes").kind == ""
    with pytest.raises(Invalid):
        union("memes", "Stocks")
    clear(ana, "markets")
    assert counts(ana, "markets") == ('["stocks"]', INFERRED)


def test_prompts_get_declared_tags_first_with_the_sources_labels(ana, ben):
    say(ana, INFERRED, "level_2", name="finance_knowledge")
    say(ana, USER, "Very Low", name="Greed Index")
    say(ana, LEARNED, ["stocks", "crypto_majors"], name="markets")
    say(ana, USER)
    say(ben, USER)
    assert [(tag.name, tag.labels, tag.is_declared) for tag in prompt_tags(ana.pk)] == [
        ("risk", "conservative", True),
        ("Greed Index", "Very Low", True),
        ("finance_knowledge", "Intermediate", False),
        ("markets", "crypto_majors, stocks", False),
    ]


def test_the_history_is_the_newest_fifty_of_each_dimension(ana):
    for number in range(54):
        say(ana, USER, ("conservative", "balanced")[number % 2])
    say(ana, INFERRED, "Low", name="FOMO Index")
    history = load_history(owner=ana)
    assert {name: len(events) for name, events in history.items()} == {"risk": 50, "FOMO Index": 1}
    assert history["risk"][0].value == "balanced"


@pytest.mark.database
def test_the_tables_refuse_unknown_words_and_a_second_row(ana):
    row = {"owner": ana, "value": "x", "actor": "test", "updated_at": NOON}
    UserTag.objects.create(**row, name="risk", source="user")
    for wrong in (
        {"name": "Risk", "source": "user"},
        {"name": "style", "source": "x"},
        {"name": "risk", "source": "user"},
    ):
        with pytest.raises(IntegrityError), transaction.atomic():
            UserTag.objects.create(**row, **wrong)
