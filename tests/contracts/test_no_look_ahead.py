"""Who reads with a moment of the past finds nothing that was stored later: every reading call that takes a moment."""

import json
from datetime import timedelta
from urllib.parse import urlencode

import pytest

from learning_app.institution.models import InstitutionRun
from learning_app.institution.services.inputs import collect_inputs
from learning_app.institution.services.run import find_last_decision
from learning_app.methodologies.models import CourtReading
from learning_app.methodologies.services.outcomes import NewOutcome, apply_outcomes
from tests.api.document import current_document
from tests.kit.api import agent_of
from tests.kit.clock import NOON
from tests.kit.tables import Faults
from tests.learning_app.learnings.rows import make_learning
from tests.learning_app.rows import make_methodology, make_run, post_prices
from tests.memory_app.memories.factories import make_memory
from tests.memory_app.roles.rows import MOMENTUM, make_row

pytestmark = pytest.mark.django_db
HOUR = timedelta(hours=1)
THEN = NOON - 48 * HOUR
LATER = "Zanzibar"
"""A word that only what was stored later has."""


def graduate(row, at, *, right=11):
    """Let a methodology graduate at a moment."""
    outcomes = [NewOutcome(row.pk, is_correct=True) for _number in range(right)]
    apply_outcomes(outcomes, actor="test", now=at)


@pytest.mark.database
def test_no_reading_call_finds_what_was_stored_after_its_moment(ana, settings):
    settings.MINARA = settings.MINARA.model_copy(update={"institution_learning_enabled": True})
    known = make_methodology(name="Known then", hours=90)
    graduate(known, THEN - HOUR)
    CourtReading.objects.create(
        methodology=known, at=THEN - HOUR, log_evidence=3.5, independent_cases=9, beats_chance=True
    )
    apply_outcomes([NewOutcome(known.pk, is_correct=False)], actor="test", now=THEN + HOUR)
    CourtReading.objects.create(methodology=known, at=THEN + HOUR, log_evidence=0.1, independent_cases=10)
    replayed = make_methodology(name=f"{LATER} graduated by a replay", hours=90)
    graduate(replayed, THEN + HOUR)
    graduate(make_methodology(name=f"{LATER} new", hours=10), NOON)
    make_learning(ana, name=f"{LATER} procedure", trigger=f"buy BTC {LATER}", created_at=THEN + HOUR)
    make_memory(ana, content=f"BTC from {LATER}", created_at=THEN + HOUR, updated_at=THEN + HOUR)
    told = {"outcome": "wrong", "classification": "logic_error", "status": "reflected"}
    make_row(ana, lesson=f"Never {LATER}", outcome_at=THEN + HOUR, reflected_at=THEN + HOUR, **told)
    post_prices("BTC", (THEN - HOUR, "100"), (THEN + HOUR, "123.45"))
    make_run(ana, at=THEN + HOUR, said=LATER)
    agent, at = agent_of(ana), THEN.isoformat()
    session = agent.post("/v1/sessions", {}).json()["data"]["id"]
    calls = {
        "/v1/sessions/{session_id}/suggestions": f"/v1/sessions/{session}/suggestions?message=buy+BTC+{LATER}&",
        "/v1/memory/search": f"/v1/memory/search?q={LATER}&",
        "/v1/roles/{role_id}/lessons": f"/v1/roles/{MOMENTUM}/lessons?",
    }
    taking = {
        path
        for path, operations in current_document()["paths"].items()
        for operation in operations.values()
        if any(each["name"] == "as_of" for each in operation.get("parameters", []))
    }
    assert taking == calls.keys(), "another call takes a moment: it belongs here too"
    faults, answers = Faults(), {}
    for path, url in calls.items():
        with faults.row(path):
            answer = agent.get(url + urlencode({"as_of": at}))
            assert answer.status_code == 200, answer.content
            answers[path] = answer.json()["data"]
            assert LATER not in json.dumps(answers[path]).replace(url, "")
    with faults.row("institution run --at"):
        run = InstitutionRun(owner=ana, ticker="BTC", as_of=THEN, actor="test", created_at=NOON)
        inputs = collect_inputs(run, at=THEN)
        assert inputs["methods"] == [known.uid]
        assert "123.45" not in json.dumps(inputs)
        assert find_last_decision(run, at=THEN) is None
    faults.show()
    [item] = answers["/v1/sessions/{session_id}/suggestions"]["extras"]["methodologies"]["items"]
    assert (item["name"], item["times_used"], item["times_correct"]) == ("Known then", 11, 11)
    assert (item["independent_cases"], item["marks"]["beats_chance"]) == (9, True)
    now = agent.get(calls["/v1/sessions/{session_id}/suggestions"]).json()["data"]["extras"]["methodologies"]
    assert len(now["items"]) == 3
