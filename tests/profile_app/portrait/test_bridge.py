"""Preferences and the tags that stand for them, through the job as topics and schedule run it."""

from datetime import timedelta

import pytest

from learning_app.preferences.models import Preference
from learning_app.preferences.services.decide import approve, archive
from minara_site.kernel.jobs.models import JobRun
from profile_app.portrait.core.tags import TagSource
from profile_app.portrait.models import UserTag, UserTagEvent
from profile_app.portrait.services import bridge
from profile_app.portrait.services.bridge import bridge_owner, bridge_tags
from profile_app.portrait.services.tags import clear_tag, set_tag, undo_change, union_markets
from tests.kit.clock import NOON
from tests.kit.tables import table
from tests.kit.undo import undo_last
from tests.learning_app.rows import make_preference

pytestmark = pytest.mark.django_db

HOUR = timedelta(hours=1)


def prefer(owner, statement, *, dimension="risk_limit", state="active", at=NOON, **fields):
    return make_preference(owner, statement, dimension=dimension, state=state, decided_at=at, **fields)


def follow(*rows, now=NOON + 9 * HOUR):
    return bridge_tags(ids=[row.pk for row in rows], now=now)


def counts(owner):
    return {tag.name: (tag.value, tag.source, tag.origin) for tag in UserTag.objects.filter(owner=owner)}


def learned(value, row):
    return {"risk": (value, "learned_preference", f"preference:{row.pk}")}


def test_an_approved_preference_writes_its_tag_once_and_an_archived_one_takes_it_along(ana):
    row = prefer(ana, "Keeps to conservative sizes", state="proposed", at=None)
    approve(preference_id=row.pk, owner=ana, actor=f"user:{ana.pk}", now=NOON)
    run = JobRun.objects.get(job="portrait.bridge_tags")
    assert run.arguments == {"ids": [row.pk]}
    assert (follow(row), follow(row)) == ({"written": 1}, {})
    assert counts(ana) == learned("conservative", row)
    archive(preference_id=row.pk, owner=ana, actor=f"user:{ana.pk}", now=NOON + HOUR)
    assert JobRun.objects.filter(job="portrait.bridge_tags").count() == 2
    assert (follow(row), follow(row)) == ({"withdrawn": 1}, {})
    assert counts(ana) == {}
    undo_last("preference", row, by=ana, now=NOON + 2 * HOUR)
    assert follow(row) == {"written": 1}


@table(
    "fields",
    [
        {"kind": "hard_constraint"},
        {"state": "proposed", "decided_at": None},
        {"state": "rejected"},
        {"state": "archived"},
        {"held_at": NOON},
        {"dimension": "venue"},
        {"statement": "Is not conservative"},
    ],
)
def test_limits_and_what_is_not_in_force_write_nothing(ana, fields):
    given = {"dimension": "risk_limit", "state": "active", "statement": "Keeps to conservative sizes"}
    row = make_preference(ana, **(given | fields))
    assert (follow(row), bridge_tags(now=NOON)) == ({}, {})
    assert not UserTagEvent.objects.exists()


def test_of_several_the_one_decided_last_speaks_and_the_next_takes_over(ana):
    first, second = prefer(ana, "Conservative"), prefer(ana, "Aggressive entries", at=NOON + HOUR)
    mute = prefer(ana, "At most 2% a trade", at=NOON + 2 * HOUR)
    assert follow(first, second, mute) == {"written": 1}
    assert counts(ana) == learned("aggressive", second)
    Preference.objects.filter(pk=second.pk).update(state="archived")
    assert follow(second) == {"written": 1}
    assert counts(ana) == learned("conservative", first)


def test_a_declaration_stands_and_what_was_learned_comes_when_it_is_cleared(ana):
    row = prefer(ana, "Conservative")
    set_tag(owner=ana, name="risk", value="aggressive", source=TagSource.USER, actor="test", now=NOON)
    assert (follow(row), follow(row)) == ({"written": 1}, {})
    assert counts(ana)["risk"][:2] == ("aggressive", "user")
    clear_tag(owner=ana, name="risk", actor="test", now=NOON + HOUR)
    assert counts(ana) == learned("conservative", row)


def test_what_its_owner_cleared_stays_cleared_until_it_is_activated_again(ana):
    row = prefer(ana, "Conservative")
    follow(row)
    cleared = clear_tag(owner=ana, name="risk", actor="test", now=NOON + HOUR)
    assert (follow(row), bridge_tags(now=NOON), bridge_owner(owner=ana, now=NOON)) == ({}, {}, 0)
    undo_change(owner=ana, event_id=cleared.event_id, actor="test", now=NOON + HOUR)
    assert follow(row) == {}
    assert counts(ana) == learned("conservative", row)
    clear_tag(owner=ana, name="risk", actor="test", now=NOON + HOUR)
    Preference.objects.filter(pk=row.pk).update(decided_at=NOON + 2 * HOUR)
    assert follow(row) == {"written": 1}


def test_the_schedule_finds_once_what_was_active_before(ana, ben):
    old, older = prefer(ana, "Conservative"), prefer(ana, "BTC and stocks", dimension="asset_universe")
    prefer(ben, "Technical setups", dimension="style")
    assert (bridge_tags(now=NOON), bridge_tags(now=NOON)) == ({"written": 3}, {})
    assert counts(ana) == {
        **learned("conservative", old),
        "markets": ('["crypto_majors","stocks"]', "learned_preference", f"preference:{older.pk}"),
    }
    assert counts(ben)["style"][0] == "technical"


def test_the_schedule_goes_on_where_it_stopped(ana, ben, monkeypatch):
    monkeypatch.setattr(bridge, "MAX_FOLLOWED", 1)
    prefer(ana, "Conservative")
    prefer(ben, "Conservative")
    assert [bridge_tags(now=NOON) for _run in range(3)] == [{"written": 1}, {"written": 1}, {}]


def test_markets_that_were_added_to_a_learned_tag_stay(ana):
    row = prefer(ana, "BTC", dimension="asset_universe")
    follow(row)
    union_markets(owner=ana, values=["stocks"], actor="job:test", now=NOON)
    assert follow(row) == {}
    assert counts(ana)["markets"][0] == '["crypto_majors","stocks"]'
