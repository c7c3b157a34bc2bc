"""Recording a fact: stored at once, settled later by one sweep, and what the doors answer."""

from datetime import timedelta

import pytest
import time_machine

from memory_app.facts.services.record import CONSOLIDATE
from memory_app.jobs import JOBS
from memory_app.memories.models import Memory
from memory_app.memories.services import Draft, record_fact
from minara_site.kernel.core.vocabulary import Category, Provenance, Source
from minara_site.kernel.events import fact_recorded
from minara_site.kernel.jobs import queue
from minara_site.kernel.jobs.models import JobRun, RunState
from minara_site.kernel.jobs.runner import execute
from tests.kit.api import agent_of
from tests.kit.clock import NOON

pytestmark = pytest.mark.django_db
WAIT = timedelta(seconds=5)


@pytest.fixture
def pushed(monkeypatch):
    """The ids that the queue was given."""
    sent = []
    monkeypatch.setattr(queue, "push", lambda run_id: sent.append(run_id) or True)
    return sent


def record(owner, text="holds ETH", *, at=NOON):
    draft = Draft(Category.FACT, text, Provenance(Source.AGENT_RECORDED, "key:abcd1234"))
    return record_fact(owner_id=owner.pk, draft=draft, now=at)


def to_come():
    return JobRun.objects.filter(job=CONSOLIDATE, not_before__isnull=False)


@pytest.mark.database
def test_stores_it_as_pending_and_tells_after_commit(ana, pushed, django_capture_on_commit_callbacks):
    told = []
    receiver = lambda owner_id, memory_ids, **_: told.append((owner_id, memory_ids))  # noqa: E731
    fact_recorded.connect(receiver)
    with time_machine.travel(NOON, tick=False), django_capture_on_commit_callbacks(execute=True):
        fact = record(ana)
        assert told == []
    assert (fact.fact_state, told) == ("pending", [(ana.pk, (fact.pk,))])


@pytest.mark.database
def test_many_recordings_ask_for_one_sweep_which_takes_them_all(ana, pushed, django_capture_on_commit_callbacks):
    for seconds in range(4):
        with (
            time_machine.travel(NOON + timedelta(seconds=seconds), tick=False),
            django_capture_on_commit_callbacks(execute=True),
        ):
            record(ana, f"holds {seconds} ETH")
    run = to_come().get()
    assert run.not_before == NOON + WAIT
    execute(run.pk)
    run.refresh_from_db()
    assert (run.state, run.not_before) == (RunState.SUCCEEDED, None)
    assert (run.result["settled"], run.result["deduplicated"]) == (4, 0)


def test_the_schedule_is_the_safety_net():
    [job] = [job for job in JOBS if job.name == CONSOLIDATE]
    assert job.every == timedelta(minutes=5)


class TestDoors:
    def test_the_tool_answers_as_for_any_memory(self, ana, pushed, django_capture_on_commit_callbacks):
        agent = agent_of(ana)
        with django_capture_on_commit_callbacks(execute=True):
            answer = agent.tool("memory_write", {"category": "fact", "content": "holds ETH"})
        fact = Memory.objects.get()
        assert answer.json() == {"ok": True, "data": {"id": fact.pk}}
        assert (fact.fact_state, fact.source) == ("pending", "agent_recorded")
        assert to_come().count() == 1

    def test_a_held_fact_says_so_and_another_category_asks_for_none(self, ana, django_capture_on_commit_callbacks):
        agent = agent_of(ana)
        with django_capture_on_commit_callbacks(execute=True):
            agent.tool("memory_write", {"category": "observation", "content": "noticed ETH"})
            assert not to_come().exists()
            answer = agent.tool("memory_write", {"category": "fact", "content": "holds\u200b ETH"})
        assert "held" in answer.json()["data"]
