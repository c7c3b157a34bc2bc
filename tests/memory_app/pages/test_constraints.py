"""Hard constraints in force on the page of an asset: named, once, and gone the moment they end (S1, R-22)."""

from datetime import timedelta
from typing import Any

import pytest

from learning_app.preferences.models import Preference
from learning_app.preferences.services.decide import activate_constraint, archive_constraint
from memory_app.memories.tasks import bridge_preferences
from memory_app.pages.cache import PAGES
from memory_app.pages.core import find_asset
from memory_app.pages.selectors import PageScope, load_page
from tests.kit.clock import NOON
from tests.learning_app.rows import make_preference
from tests.memory_app.memories.factories import make_memory

pytestmark = [pytest.mark.django_db, pytest.mark.database]


def make_constraint(owner: Any, statement: str, **fields: Any) -> Preference:
    wanted = {"kind": "hard_constraint", "dimension": "risk_limit", "state": "active"} | fields
    return make_preference(owner, statement, **wanted)


def page_of(owner: Any, *, reader: Any = None, hard_constraints: bool = True) -> Any:
    asset = find_asset("BTC")
    assert asset is not None
    return load_page(PageScope(owner, asset, hard_constraints), reader=reader or owner, now=NOON)


def texts(owner: Any, **options: Any) -> list[str]:
    return [entry.text for entry in page_of(owner, **options).entries]


def test_what_names_the_asset_in_any_spelling_is_on_its_page_and_nothing_else(ana: Any, ben: Any) -> None:
    named = [
        make_constraint(ana, f"Never {what}").statement
        for what in ("above 3x on BTC", "buy bitcoin on margin", "short BTC/USDT", "持有比特币超过两成")
    ]
    make_constraint(ana, "Never above 3x on ETH")
    make_constraint(ben, "Never hold BTC")
    for state in ("proposed", "rejected", "archived"):
        make_constraint(ana, f"BTC canary, {state}", state=state)
    make_constraint(ana, "BTC canary, held", held_at=NOON)
    make_constraint(ana, "BTC canary, soft", kind="soft_preference")
    assert texts(ana) == named
    assert texts(ana, hard_constraints=False) == []


def test_a_constraint_stands_once_before_what_is_only_labelled(ana: Any, olga: Any) -> None:
    text = "Never above 3x on BTC; key sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789"
    row = make_constraint(ana, text, source="user", actor=f"user:{ana.pk}")
    label = make_memory(ana, "No BTC at night", fact_type="constraint.hard")
    bridge_preferences(ids=[row.pk], now=NOON)
    make_memory(ana, "An agent calls BTC forbidden", fact_type="constraint.hard", actor="key:other")
    lines = [line for line in page_of(ana).markdown.splitlines() if line.startswith("- ")]
    assert sorted(lines[:2], reverse=True) == [
        f"- [preference] (constraint.hard, user_manual, preference {row.pk}) {row.statement}",
        f"- [memory] (constraint.hard, user_manual, memory {label.pk}) No BTC at night",
    ]
    assert "(constraint.hard" not in lines[2]
    assert "An agent" in lines[2]
    assert "abcdefghij" not in page_of(ana, reader=olga).markdown
    Preference.objects.update(state="archived")  # its memory waits for the job
    assert texts(ana) == ["No BTC at night", "An agent calls BTC forbidden"]
    assert texts(ana, hard_constraints=False) == []


def test_a_cached_page_is_new_with_each_decision_before_any_job_or_event(ana: Any) -> None:
    row = make_constraint(ana, "Never above 3x on BTC", state="proposed")
    make_constraint(ana, "Never above 2x on BTC")
    who = {"owner": ana, "typed": "3x", "actor": f"user:{ana.pk}", "now": NOON + timedelta(minutes=1)}

    def is_listed() -> bool:
        page = page_of(ana)
        assert page_of(ana) is page, "cached while nothing changes"
        return row.statement in [entry.text for entry in page.entries]

    PAGES.clear()
    seen = [is_listed()]
    for change in (
        lambda: activate_constraint(preference_id=row.pk, **who),
        lambda: archive_constraint(preference_id=row.pk, **who),
        lambda: activate_constraint(preference_id=row.pk, **who),
        lambda: Preference.objects.filter(pk=row.pk).update(held_at=NOON),
        lambda: Preference.objects.filter(pk=row.pk).update(held_at=None),
        lambda: Preference.objects.filter(pk=row.pk).delete(),
    ):
        change()
        seen.append(is_listed())
    assert seen == [False, True, False, True, False, True, False]
