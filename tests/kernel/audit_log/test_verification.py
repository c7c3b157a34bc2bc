"""The check names the first broken seal and how it broke, whatever somebody with the database did."""

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from minara_site.kernel.audit_log import tasks
from minara_site.kernel.audit_log.models import AuditSeal
from minara_site.kernel.audit_log.verification import Break, verify_chain, verify_newest
from minara_site.kernel.jobs import runner
from minara_site.kernel.jobs.models import JobRun, RunState
from minara_site.kernel.jobs.services import Cancelled, cancel_run, claim_run
from tests.kit.tables import table

pytestmark = [pytest.mark.django_db, pytest.mark.database]


@pytest.fixture
def chain(write, seal_all):
    """Three seals over 4, 4 and 2 entries, and one entry that waits; ids leave a gap behind the eighth."""
    ids = [*write(8)]
    seals = seal_all()
    ids += write(2)
    seals += seal_all()
    return [*ids, *write(1)], seals


def test_an_untouched_chain_holds(chain):
    _ids, seals = chain
    finding = verify_chain()
    assert (finding.broken, finding.seals, finding.entries, finding.sha256) == (None, 3, 10, seals[-1].sha256)
    assert finding.sentence == "Every seal fits (entries: 10, seals: 3)."


def test_a_log_without_seals_holds(write):
    write(2)
    assert verify_chain().broken is None
    assert verify_newest().seals == 0


COLUMNS = {
    "at": "at = '2020-01-01 00:00:00+00:00'",
    "actor": "actor = 'user:2'",
    "owner": "owner_id = 7",
    "tool_call": "tool_call = 'x'",
    "reasoning": "reasoning = ''",
    "request_id": "request_id = 'x'",
    "details": """details = '{"id": 1}'""",
    "id": "id = 2000000",
}


@table("column", COLUMNS)
def test_names_an_entry_that_was_changed(chain, tamper, column):
    ids, seals = chain
    tamper(f"UPDATE audit_log SET {COLUMNS[column]} WHERE id = %s", ids[5])
    finding = verify_chain()
    expected = Break.ENTRY_MISSING if column == "id" else Break.ENTRY_CHANGED
    assert (finding.broken, finding.seal_id, finding.seals) == (expected, seals[1].pk, 1)
    assert (finding.after_id, finding.last_id) == (ids[3], ids[7])


@table("place", [0, 3, 4, 9])
def test_names_an_entry_that_is_missing(chain, tamper, place):
    ids, seals = chain
    tamper("DELETE FROM audit_log WHERE id = %s", ids[place])
    finding = verify_chain()
    assert (finding.broken, finding.seal_id) == (Break.ENTRY_MISSING, seals[(place > 3) + (place > 7)].pk)


def test_names_a_batch_that_is_missing(chain, tamper):
    ids, seals = chain
    tamper("DELETE FROM audit_log WHERE id > %s AND id <= %s", ids[3], ids[7])
    assert (verify_chain().broken, verify_chain().seal_id) == (Break.ENTRY_MISSING, seals[1].pk)


def test_names_an_entry_that_was_added_later(chain, tamper, copy_entry):
    ids, seals = chain
    tamper("DELETE FROM audit_log WHERE id = %s", ids[5])
    copy_entry(ids[4], ids[5])
    assert verify_chain().broken is Break.ENTRY_CHANGED
    copy_entry(ids[0], -5)
    finding = verify_chain()
    assert (finding.broken, finding.seal_id) == (Break.ENTRY_ADDED, seals[0].pk)


SEAL_COLUMNS = {
    "sha256": "sha256 = 'f00'",
    "fewer entries": "entries = 1",
    "more entries": "entries = 5",
    "ends earlier": "last_id = last_id - 1",
}


@table("change", SEAL_COLUMNS)
@table("place", [0, 1])
def test_names_a_seal_that_was_changed(chain, tamper, change, place):
    _ids, seals = chain
    tamper(f"UPDATE audit_seals SET {SEAL_COLUMNS[change]} WHERE id = %s", seals[place].pk)
    finding = verify_chain()
    assert (finding.broken, finding.seal_id) == (Break.SEAL_CHANGED, seals[place].pk)


@table("place", [0, 1])
def test_names_the_seal_before_which_one_is_missing(chain, tamper, place):
    _ids, seals = chain
    tamper("DELETE FROM audit_seals WHERE id = %s", seals[place].pk)
    finding = verify_chain()
    assert (finding.broken, finding.seal_id) == (Break.SEAL_MISSING, seals[place + 1].pk)


def test_what_waits_is_not_under_the_chain_yet(chain, tamper):
    ids, _seals = chain
    tamper("DELETE FROM audit_log WHERE id = %s", ids[10])
    assert verify_chain().broken is None


def test_the_newest_seal_is_checked_alone(chain, tamper):
    ids, seals = chain
    tamper("DELETE FROM audit_log WHERE id = %s", ids[0])
    assert (verify_newest().broken, verify_newest().sha256) == (None, seals[-1].sha256)
    tamper("DELETE FROM audit_log WHERE id = %s", ids[9])
    assert (verify_newest().broken, verify_newest().seal_id) == (Break.ENTRY_MISSING, seals[2].pk)


def run_check():
    now = timezone.now()
    run = JobRun.objects.create(job=tasks.VERIFY, created_at=now, enqueued_at=now)
    runner.execute(run.pk)
    run.refresh_from_db()
    return run


def test_the_job_says_how_far_it_is_and_what_it_found(chain):
    run = run_check()
    assert (run.state, run.done, run.total, run.result["entries"]) == (RunState.SUCCEEDED, 3, 3, 10)


def test_the_job_fails_with_the_break_in_words(chain, tamper):
    ids, seals = chain
    tamper("UPDATE audit_log SET actor = 'user:2' WHERE id = %s", ids[5])
    run = run_check()
    assert (run.state, run.result["broken"], run.result["seal_id"]) == (RunState.FAILED, "entry_changed", seals[1].pk)
    assert f"broken at seal {seals[1].pk}, entries {ids[4]} to {ids[7]}: an entry was changed." in run.error


def test_the_job_can_be_stopped(chain, now):
    run = JobRun.objects.create(job=tasks.VERIFY, created_at=now, enqueued_at=now)
    claim = claim_run(run.pk, worker="host:1:2", now=now)
    cancel_run(run.pk, now=now)
    with pytest.raises(Cancelled):
        tasks.verify(now=now, claim=claim)


def test_the_command_exits_with_the_break(chain, tamper, capsys):
    ids, seals = chain
    call_command("audit-log", "verify")
    assert f"Newest seal: {seals[-1].sha256}" in capsys.readouterr().out
    tamper("DELETE FROM audit_log WHERE id = %s", ids[5])
    with pytest.raises(CommandError, match="an entry is missing"):
        call_command("audit-log", "verify")


def test_reads_slice_by_slice(chain, django_assert_num_queries, monkeypatch):
    from minara_site.kernel.audit_log import verification

    monkeypatch.setattr(verification, "READ_AT_ONCE", 2)
    assert AuditSeal.objects.count() == 3
    with django_assert_num_queries(1 + 3 + 3):  # count, slices of seals, a batch of entries for each
        verify_chain()
