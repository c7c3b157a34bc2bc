"""`/ops/governance/`: how each capability stands, what would have been done, a breaker that somebody closes."""

from datetime import timedelta
from decimal import Decimal
from http import HTTPStatus

import pytest
import time_machine

from memory_app.capabilities import CONTRADICTION_JUDGE, ROLE_REFLECTION
from memory_app.facts.models import FactVerdict
from minara_site.access.models import AccessEntry
from minara_site.kernel.audit_log.models import AuditEntry
from minara_site.kernel.capabilities import MODEL_CALLS
from minara_site.kernel.governance.breaker import record_failure
from minara_site.kernel.governance.core import Mode
from minara_site.kernel.governance.models import CircuitBreaker
from minara_site.kernel.governance.selectors import mode_of
from minara_site.kernel.governance.services import record_shadow, switch
from tests.kit.clock import NOON
from tests.kit.page import words_of
from tests.kit.tables import table
from tests.memory_app.facts.factories import make_conflict

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("frozen")]
PAGE = "/ops/governance/"
JUDGE = f"{PAGE}contradiction_judge/"
SECRET = "sk-ant-api03-" + "Zk3Vq8Lr" * 11 + "AA"


def trip(name="model:small"):
    for _failure in range(5):
        record_failure(name, error="overloaded", now=NOON)


def shade(conflict, reason):
    """Record what the judge would have decided about a pair."""
    asked = {"model": "small", "cost_usd": Decimal("0.00041")}
    verdict = {"owner": conflict.owner, "conflict": conflict, "kind": "supersede", "reason": reason}
    FactVerdict.objects.create(at=NOON, is_shadow=True, **verdict, **asked)
    decided = {"subject": f"fact_conflict:{conflict.pk}", "decision": {"verdict": "supersede"}}
    record_shadow(capability=CONTRADICTION_JUDGE, owner_id=conflict.owner_id, now=NOON, **decided, **asked)


class TestPage:
    def test_all_is_normal_and_no_key_is_shown(self, operator_page, models):
        shown = operator_page.get(PAGE).content.decode()
        assert shown.count("All normal") == 2
        assert models.environment["ANTHROPIC_API_KEY"] not in shown
        assert "127.0.0.1" in shown

    def test_says_what_is_missing_and_what_the_environment_forbids(self, operator_page):
        shown = words_of(operator_page.get(PAGE))
        assert "No model can be called" in shown
        assert "ANTHROPIC_API_KEY" in shown
        assert "MEMORY_CONSOLIDATION_ENABLED is false" in shown

    @pytest.mark.database
    def test_what_shadow_would_have_done_stands_there_with_its_cost(self, operator_page, ana):
        conflict = make_conflict(ana)
        shade(conflict, f"Newer, and the key is {SECRET}.")
        said = {"narrative": f"Bought late with {SECRET}", "lesson": "Wait."}
        decided = {"outcome": "wrong", "pnl_pct": -3.2771513, "class": "logic_error", **said}
        asked = {"model": "large", "cost_usd": Decimal("0.02"), "now": NOON}
        subject = {"subject": "role_memory:7", "owner_id": ana.pk}
        record_shadow(capability=ROLE_REFLECTION, decision=decided, **subject, **asked)
        response = operator_page.get(PAGE)
        shown = words_of(response)
        for words in (
            "The newer fact would replace the older one.",
            "$0.00041",
            "Outcome: Wrong",
            "error in the reasoning (logic_error)",
            "Wait.",
            "$0.02",
            "−3.28%",
        ):
            assert words in shown
        assert "/facts/conflicts/?owner=ana" in response.content.decode()
        assert SECRET not in response.content.decode()
        entry = AccessEntry.objects.get()
        assert (entry.owner, entry.kind) == (ana, "shadows")
        filtered = words_of(operator_page.get(PAGE, {"capability": "role_reflection", "owner": "ana"}))
        assert "logic_error" in filtered
        assert "would replace" not in filtered
        assert "logic_error" not in words_of(operator_page.get(PAGE, {"owner": "ben"}))

    def test_an_open_breaker_says_why_and_when_it_tries_again(self, operator_page):
        trip()
        shown = words_of(operator_page.get(PAGE))
        assert "All normal Everything" not in shown
        for words in ("open: nothing is called", "5 failures in a row", "overloaded", "12:01:00"):
            assert words in shown
        with time_machine.travel(NOON + timedelta(seconds=60), tick=False):
            assert "the next call tries" in words_of(operator_page.get(PAGE))


class TestChanging:
    @table("mode", [Mode.SHADOW, Mode.OFF])
    def test_a_plain_form_switches_and_says_who_and_why(self, operator_page, mode):
        assert operator_page.get(JUDGE).status_code == HTTPStatus.OK
        answer = operator_page.post(JUDGE, {"mode": mode, "reason": "A week of looking first"})
        assert (answer.status_code, answer["Location"]) == (HTTPStatus.SEE_OTHER, PAGE)
        assert mode_of(CONTRADICTION_JUDGE) is mode
        assert "“A week of looking first”" in words_of(operator_page.get(PAGE))
        assert AuditEntry.objects.get().tool_call == "capability_switched"

    @table("data", [{"mode": "off"}, {"mode": "off", "reason": " "}, {"reason": "x"}, {"mode": "?"}])
    def test_without_mode_or_reason_nothing_happens(self, operator_page, data):
        assert operator_page.post(JUDGE, data).status_code == HTTPStatus.UNPROCESSABLE_ENTITY
        assert mode_of(CONTRADICTION_JUDGE) is Mode.ON

    def test_model_calls_have_no_shadow(self, operator_page):
        assert 'value="shadow"' not in operator_page.get(f"{PAGE}model_calls/").content.decode()

    def test_a_breaker_is_closed_by_hand(self, operator_page):
        trip()
        address = f"{PAGE}breaker/"
        assert "model:small" in words_of(operator_page.get(address, {"name": "model:small"}))
        operator_page.post(address, {"name": "model:small", "reason": "The provider is back"})
        assert CircuitBreaker.objects.get().open_until is None
        assert AuditEntry.objects.get().tool_call == "breaker_reset"
        again = operator_page.post(address, {"name": "model:small", "reason": "again"})
        assert again.status_code == HTTPStatus.CONFLICT
        for hostile in ("\0", "\ud800"):
            name = hostile.encode(errors="surrogatepass")
            answer = operator_page.post(address, {"name": name, "reason": "x"})
            assert answer.status_code < HTTPStatus.INTERNAL_SERVER_ERROR

    def test_hostile_words_are_words(self, operator_page):
        reason = "<script>alert(1)</script>"
        switch(capability=MODEL_CALLS, mode=Mode.OFF, reason=reason, actor="user:1", now=NOON)
        record_failure("<b>x</b>", error="<i>y</i>", now=NOON)
        body = operator_page.get(PAGE).content.decode()
        assert all(markup not in body for markup in ("<script>alert", "<b>x", "<i>y"))
