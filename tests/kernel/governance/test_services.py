"""Switches: on without a row, each change with a reason in the audit log; shadow decisions once a subject."""

from decimal import Decimal

import pytest
from django.db import DataError, IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext

from memory_app.capabilities import CONTRADICTION_JUDGE, ROLE_REFLECTION
from minara_site.kernel.audit_log.models import AuditEntry
from minara_site.kernel.capabilities import MODEL_CALLS
from minara_site.kernel.errors import Invalid
from minara_site.kernel.governance.core import Mode
from minara_site.kernel.governance.models import CapabilitySwitch, ShadowDecision
from minara_site.kernel.governance.selectors import has_shadow, list_shadows, list_statuses, mode_of
from minara_site.kernel.governance.services import MAX_REASON_CHARS, delete_shadows, record_shadow, switch
from minara_site.kernel.governance.table import Capability, load_capabilities
from tests.kit.tables import table

pytestmark = [pytest.mark.django_db, pytest.mark.database]
JUDGE, CALLS = CONTRADICTION_JUDGE, MODEL_CALLS


def set_mode(now, capability, mode, reason="a trial"):
    return switch(capability=capability, mode=mode, reason=reason, actor="user:1", now=now)


def shade(owner, now, subject="fact_conflict:1", verdict="supersede"):
    asked = {"model": "small", "cost_usd": Decimal("0.0004"), "now": now}
    record_shadow(capability=JUDGE, subject=subject, owner_id=owner.pk, decision={"verdict": verdict}, **asked)


def test_everything_is_on_until_somebody_says_otherwise():
    assert [standing.mode for standing in list_statuses()] == [Mode.ON] * len(load_capabilities())
    with CaptureQueriesContext(connection) as queries:
        assert mode_of(JUDGE) is Mode.ON
    assert len(queries) == 1


def test_a_switch_stands_at_once_and_is_in_the_audit_log(now):
    for mode in (Mode.SHADOW, Mode.OFF, Mode.ON):
        set_mode(now, JUDGE, mode)
        assert mode_of(JUDGE) is mode
    assert mode_of(CALLS) is Mode.ON
    details = list(AuditEntry.objects.order_by("pk").values_list("tool_call", "reasoning", "details"))
    steps = [("on", "shadow"), ("shadow", "off"), ("off", "on")]
    assert details == [
        ("capability_switched", "a trial", {"capability": JUDGE.name, "before": before, "after": after})
        for before, after in steps
    ]


@table("reason", ["", "   ", "x" * (MAX_REASON_CHARS + 1)])
def test_nothing_is_switched_without_a_short_reason(now, reason):
    with pytest.raises(Invalid):
        set_mode(now, JUDGE, Mode.OFF, reason)
    assert not CapabilitySwitch.objects.exists()
    assert not AuditEntry.objects.exists()


def test_a_model_call_has_no_shadow(now):
    with pytest.raises(Invalid):
        set_mode(now, CALLS, Mode.SHADOW)
    CapabilitySwitch.objects.create(
        capability=CALLS.name,
        mode=Mode.SHADOW,
        reason="x",
        actor="sql",
        changed_at=now,
    )
    assert mode_of(CALLS) is Mode.OFF


def test_what_no_app_declares_is_not_switched(now):
    with pytest.raises(LookupError, match="unknown"):
        set_mode(now, Capability("unknown", "", ""), Mode.OFF)
    assert not CapabilitySwitch.objects.exists()


@table("name", ["", "x" * 41])
def test_the_database_takes_names_of_1_to_40_characters(now, name):
    with pytest.raises((IntegrityError, DataError)), transaction.atomic():
        CapabilitySwitch.objects.create(
            capability=name,
            mode=Mode.ON,
            reason="x",
            actor="sql",
            changed_at=now,
        )


def test_a_subject_is_decided_once_in_shadow(ana, now):
    shade(ana, now)
    shade(ana, now, verdict="keep_both")
    shade(ana, now, subject="fact_conflict:2")
    assert has_shadow(JUDGE, ["fact_conflict:1", "fact_conflict:3"]) == {"fact_conflict:1"}
    assert has_shadow(ROLE_REFLECTION, ["fact_conflict:1"]) == set()
    assert ShadowDecision.objects.get(subject="fact_conflict:1").decision == {"verdict": "supersede"}
    assert delete_shadows(["fact_conflict:1"]) == 1


def test_shadow_decisions_go_with_their_owner(ana, ben, now):
    shade(ana, now)
    shade(ben, now, subject="fact_conflict:2")
    assert [row.owner_id for row in list_shadows(owner=ana)] == [ana.pk]
    ana.delete()
    assert [row.owner_id for row in list_shadows()] == [ben.pk]
