"""How accounts and rebuilds go: ages for a scraper, lines with what to do for the doctor, labels for calls."""

from datetime import timedelta

import pytest

from minara_site.access.models import User
from minara_site.kernel.governance.models import CapabilitySwitch
from minara_site.kernel.governance.subjects import subject_label, subject_url
from minara_site.kernel.jobs.models import OwnerSchedule
from profile_app.activity.models import Account, FillDay, SyncState
from profile_app.activity.selectors import list_read, reader_of
from profile_app.rebuild.core import Flow
from profile_app.rebuild.health import load_ages
from profile_app.rebuild.models import RebuildRun
from tests.kit.clock import NOON
from tests.kit.tables import Faults
from tests.memory_app.doctor.test_report import lines

pytestmark = [pytest.mark.django_db, pytest.mark.database]
HOUR = timedelta(hours=1)
WALLETS = [f"0x{number:040x}" for number in range(1, 8)]
EXCHANGE = {"hyperliquid_info_url": "http://127.0.0.1:1/info"}
GATEWAY = {"minara_base_url": "http://127.0.0.1:1", "minara_api_key": "key"}


def configure(settings, **values):
    settings.MINARA = settings.MINARA.model_copy(update=values)


@pytest.fixture(autouse=True)
def has_exchange(settings):
    configure(settings, **EXCHANGE)


def add(owner, wallet, *, hours=None, failures=0, **fields):
    """Make an account that was added 50 hours ago; with `hours` a source last answered for it so long ago."""
    about = {"owner": owner, "source": "perps", "wallet": wallet, "address": wallet}
    account = Account.objects.create(**about | {"actor": "user:1", "created_at": NOON - 50 * HOUR} | fields)
    if hours is not None:
        SyncState.objects.create(
            owner=owner,
            source="perps_fills",
            sub_account_id=wallet,
            last_synced_at=NOON - hours * HOUR,
            last_success_at=NOON - hours * HOUR,
            last_error="timeout" if failures else None,
            consecutive_failures=failures,
        )
    return account


def rebuilt(owner, flow, outcome, hours, **fields):
    at = NOON - hours * HOUR
    return RebuildRun.objects.create(owner=owner, flow=flow, outcome=outcome, started_at=at, ended_at=at, **fields)


def test_what_is_read_is_the_same_for_one_account_and_for_all(ana, settings):
    default = User.objects.get(is_default=True)
    for owner in (ana, default):
        add(owner, WALLETS[0])
        add(owner, WALLETS[0], source="spot")
        add(owner, WALLETS[1], is_gateways=True)
        add(owner, "7EqQdEULxWcraVx3mXKFjc84LhCkMGZCkRvDpvcMwJeK")
        add(owner, WALLETS[2], is_demo=True)
    faults, seen = Faults(), set()
    for values in ({}, GATEWAY, {"hyperliquid_info_url": "disabled"}):
        configure(settings, **values)
        read = {row.pk for row in Account.objects.all() if reader_of(row, row.owner)}
        seen.add(len(read))
        with faults.row(values):
            assert {row.pk for row in list_read()} == read
    faults.show()
    assert seen == {2, 4}


def test_ages_are_of_the_account_read_longest_ago_and_of_each_flow(ana, ben, settings):
    assert load_ages(now=NOON).sync_lag is None
    add(ana, WALLETS[0], hours=3)
    add(ana, WALLETS[1], hours=9, removed_at=NOON)
    add(ana, WALLETS[2], hours=9, is_demo=True)
    assert load_ages(now=NOON).sync_lag == 3 * 3600
    add(ben, WALLETS[0])
    assert load_ages(now=NOON).sync_lag == 50 * 3600
    configure(settings, hyperliquid_info_url="disabled")
    assert load_ages(now=NOON).sync_lag is None
    for hours, outcome in ((7, "written"), (5, "written"), (1, "failed"), (1, "unchanged")):
        rebuilt(ana, Flow.TAGS, outcome, hours)
    for owner, hours in ((ana, 2), (ben, 4)):
        OwnerSchedule.objects.create(owner=owner, job=Flow.SUMMARY.job, due_at=NOON - hours * HOUR)
    OwnerSchedule.objects.create(owner=ana, job=Flow.TAGS.job, due_at=NOON + HOUR)
    ages = load_ages(now=NOON)
    assert ages.written == {Flow.TAGS: 5 * 3600}
    assert ages.due == {Flow.SUMMARY: 4 * 3600, Flow.TAGS: 0, Flow.MEMORIES: 0}


def test_the_doctor_says_what_fails_is_missing_or_unread(ana, ben, settings):
    configure(settings, history_sync_max_failures=5, history_sync_failure_cooldown_ms=2 * 3_600_000)
    add(ana, WALLETS[0], hours=1, failures=4)
    add(ana, WALLETS[1], hours=1, failures=5)
    add(ben, WALLETS[2], hours=1, failures=9)
    add(ben, WALLETS[3], hours=1, failures=9, removed_at=NOON)
    add(ben, WALLETS[4], source="spot")
    gapped, demo = add(ben, WALLETS[5]), add(ben, WALLETS[6], is_demo=True)
    numbers = {each.name: 0 for each in FillDay._meta.fields if each.name not in {"id", "owner", "account", "asset"}}
    for account in (gapped, demo):
        day = numbers | {"day": NOON.date(), "symbol": "BTC", "gaps": 1}
        FillDay.objects.create(owner=ben, account=account, **day)
    for most in (None, 20_000):
        found = lines("activity", most=most)
        counts = {name: line.count for name, line in found.items() if line.count is not None}
        assert counts == {"accounts_failing": 2, "accounts_with_gaps": 1, "accounts_unread": 1, "rebuilds_failed": 0}
    assert found["accounts_failing"].names == (("timeout", 2),)
    assert "The next try is in 60 min." in found["accounts_failing"].hint
    assert found["accounts_failing"].state == "watch"
    SyncState.objects.update(last_synced_at=NOON - 3 * HOUR)
    assert "A try is due." in lines("activity")["accounts_failing"].hint


def test_the_doctor_names_the_setting_that_keeps_something_off(ana, settings):
    configure(settings, anthropic_api_key="")
    found = lines("activity")
    assert [found[name].words for name in ("source_hyperliquid", "source_gateway", "rebuilds")] == [
        "on",
        "off",
        "no model",
    ]
    assert "MINARA_API_KEY" in found["source_gateway"].hint
    assert "ANTHROPIC_API_KEY" in found["rebuilds"].hint
    configure(settings, **GATEWAY, hyperliquid_info_url="disabled", anthropic_api_key="key")
    found = lines("activity")
    assert ("HYPERLIQUID_INFO_URL" in found["source_hyperliquid"].hint, found["source_gateway"].hint) == (True, "")
    assert (found["rebuilds"].words, found["rebuilds"].hint) == ("on", "")
    switch = CapabilitySwitch.objects.create(
        capability="personalization_rebuild", mode="shadow", reason="trial", actor="user:1", changed_at=NOON
    )
    assert lines("activity")["rebuilds"].words == "shadow mode"
    switch.delete()
    configure(settings, minara_personalization_rebuild="disabled")
    assert "MINARA_PERSONALIZATION_REBUILD" in lines("activity")["rebuilds"].hint


def test_the_doctor_counts_flows_whose_last_run_failed(ana, ben):
    rebuilt(ana, Flow.TAGS, "failed", 5, reason="unavailable")
    rebuilt(ana, Flow.TAGS, "written", 4)
    rebuilt(ana, Flow.MEMORIES, "failed", 3, reason="answer_invalid")
    rebuilt(ben, Flow.MEMORIES, "failed", 3, reason="answer_invalid")
    rebuilt(ben, Flow.SUMMARY, "lost", 3)
    line = lines("activity")["rebuilds_failed"]
    assert line.count == 3
    assert "minara profile refresh" in line.hint


def test_calls_of_a_run_have_words(ana):
    run = rebuilt(ana, Flow.TAGS, "written", 1)
    assert (subject_label(run.subject), subject_url(run.subject, "ana")) == (
        f"rebuild {run.pk}",
        f"/profile/changes/?run={run.pk}&owner=ana",
    )
