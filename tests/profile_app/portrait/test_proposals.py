"""What a key may only propose of a portrait: what a person set, and the reference wallets (decisions, trusted input)."""

from datetime import timedelta
from typing import Any

import pytest
from allauth.account.authentication import AUTHENTICATION_METHODS_SESSION_KEY
from django.urls import reverse

from minara_site.kernel.audit_log.models import AuditEntry
from minara_site.kernel.errors import Conflict
from minara_site.kernel.proposals.kinds import proposed_kinds
from minara_site.kernel.proposals.models import ProposedChange
from minara_site.kernel.proposals.services import decide, undo_decision
from profile_app.documents.core import Origin
from profile_app.onboarding.services import complete_onboarding
from profile_app.portrait.core.tags import TagSource
from profile_app.portrait.selectors.profile import load_custom_prompt, load_settings, load_wallets
from profile_app.portrait.selectors.tags import find_tag
from profile_app.portrait.services.profile import change_settings, save_custom_prompt
from profile_app.portrait.services.tags import clear_tag, set_tag
from profile_app.workspace.services.files import write_file
from tests.kit.api import Agent, agent_of, assert_problem
from tests.kit.clock import NOON
from tests.kit.tables import Faults, taken_back
from tests.memory_app.memories.factories import browser

pytestmark = [pytest.mark.django_db, pytest.mark.database]

LATER = NOON + timedelta(hours=1)
EVM = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"


@pytest.fixture
def agent(ana: Any) -> Agent:
    return agent_of(ana)


def by(owner: Any) -> dict[str, Any]:
    return {"owner": owner, "actor": f"user:{owner.pk}", "now": NOON}


CASES: dict[str, tuple[Any, Any, Any, Any]] = {
    "switch": (
        lambda ana: change_settings(settings={"include_memories": False}, **by(ana)),
        lambda agent: agent.put("/v1/profile/settings", {"include_memories": True}),
        lambda ana: load_settings(ana.pk)["include_memories"],
        (False, True),
    ),
    "tag": (
        lambda ana: set_tag(name="risk", value="conservative", source=TagSource.USER, **by(ana)),
        lambda agent: agent.put("/v1/profile/tags/risk", {"value": "aggressive"}),
        lambda ana: find_tag(owner=ana, name="risk").value,  # type: ignore[union-attr]
        ("conservative", "aggressive"),
    ),
    "tag cleared": (
        lambda ana: set_tag(name="risk", value="conservative", source=TagSource.USER, **by(ana)),
        lambda agent: agent.delete("/v1/profile/tags/risk"),
        lambda ana: bool(find_tag(owner=ana, name="risk")),
        (True, False),
    ),
    "wallets": (
        lambda ana: None,
        lambda agent: agent.put("/v1/profile/reference-wallets", {"wallets": [{"address": EVM}]}),
        lambda ana: len(load_wallets(ana, reader=ana)),
        (0, 1),
    ),
    "custom prompt": (
        lambda ana: save_custom_prompt(content="Numbers first.", origin=Origin.PAGE, **by(ana)),
        lambda agent: agent.delete("/v1/profile/prompt"),
        load_custom_prompt,
        ("Numbers first.", ""),
    ),
    "file": (
        lambda ana: write_file(name="USER.md", content="Ana", origin=Origin.PAGE, **by(ana)),
        lambda agent: agent.put("/v1/workspace/USER.md", {"content": ""}),
        lambda ana: ProposedChange.objects.filter(kind="workspace_file", state="approved").exists(),
        (False, True),
    ),
    "answers": (
        lambda ana: complete_onboarding(principal=browser(ana), answers={"risk": "conservative"}, now=NOON),
        lambda agent: agent.post("/v1/profile/onboarding", {"risk": "aggressive"}),
        lambda ana: find_tag(owner=ana, name="risk").value,  # type: ignore[union-attr]
        ("conservative", "aggressive"),
    ),
}


def test_what_a_person_set_waits_for_them_and_changes_nothing_until_they_approve(ana: Any, agent: Agent) -> None:
    faults = Faults()
    for name, (set_up, ask, read, (before, after)) in CASES.items():
        with faults.row(name), taken_back("default"):
            set_up(ana)
            answer = ask(agent)
            assert answer.status_code == 202, answer.content
            assert answer.json()["proposed"]["state"] == "open"
            assert read(ana) == before
            proposal = ProposedChange.objects.get()
            facet = proposed_kinds()[proposal.kind]
            assert proposal.action in facet.actions
            assert facet.text_of(facet.read(ana, proposal.key) or {}) != facet.text_of(proposal.after)
            assert facet.title(proposal.key)
            assert facet.url(proposal.key).startswith("/")
            decide(proposal_id=proposal.pk, principal=browser(ana), is_approved=True, now=LATER)
            assert read(ana) == after
            assert AuditEntry.objects.order_by("pk").last().actor == f"user:{ana.pk}"  # type: ignore[union-attr]
            undo_decision(proposal_id=proposal.pk, principal=browser(ana), now=LATER)
            assert read(ana) == before
    faults.show()


def test_answers_of_a_key_change_only_what_they_say(ana: Any, agent: Agent) -> None:
    complete_onboarding(principal=browser(ana), answers={"risk": "conservative", "capital": "9k"}, now=NOON)
    assert agent.post("/v1/profile/onboarding", {"risk": "conservative"}).status_code == 200, "nothing new"
    set_tag(name="risk", value="balanced", source=TagSource.USER, **by(ana))
    assert agent.post("/v1/profile/onboarding", {"frequency": "weekly"}).status_code == 200, "nobody said that"
    assert agent.post("/v1/profile/onboarding", {"capital": "12k"}).status_code == 202
    proposal = ProposedChange.objects.get()
    decide(proposal_id=proposal.pk, principal=browser(ana), is_approved=True, now=LATER)
    assert find_tag(owner=ana, name="risk").value == "balanced"  # type: ignore[union-attr]
    set_tag(name="risk", value="aggressive", source=TagSource.USER, **by(ana))
    with pytest.raises(Conflict):
        undo_decision(proposal_id=proposal.pk, principal=browser(ana), now=LATER)
    assert find_tag(owner=ana, name="risk").value == "aggressive"  # type: ignore[union-attr]


def test_what_a_person_cleared_waits_too_and_a_stale_version_is_no_proposal(ana: Any, agent: Agent) -> None:
    set_tag(name="risk", value="balanced", source=TagSource.USER, **by(ana))
    clear_tag(name="risk", **by(ana))
    assert agent.put("/v1/profile/tags/risk", {"value": "aggressive"}).status_code == 202
    write_file(name="SOUL.md", content="Calm.", origin=Origin.PAGE, **by(ana))
    stale = agent.put("/v1/workspace/SOUL.md", {"content": ""}, If_Match='"7"')
    assert_problem(stale, 409, "stale")


def test_the_profile_asks_who_approves(ana: Any, agent: Agent, page: Any) -> None:
    save_custom_prompt(content="Numbers first.", origin=Origin.PAGE, **by(ana))
    agent.delete("/v1/profile/prompt")
    address, proposal = reverse("quarantine:verdict"), ProposedChange.objects.get()
    session = page.session
    session[AUTHENTICATION_METHODS_SESSION_KEY] = [{"method": "password", "at": 0}]
    session.save()
    answer = page.post(address, {"action": "accept", "ids": [f"proposed-{proposal.pk}"]})
    assert answer["Location"].startswith("/reauthenticate")
    assert load_custom_prompt(ana) == "Numbers first."
    assert page.post(address, {"action": "refuse", "ids": [f"proposed-{proposal.pk}"]})["Location"] == "/quarantine/"


def test_what_no_person_ever_set_obeys_a_key_at_once(ana: Any, agent: Agent) -> None:
    assert agent.put("/v1/profile/settings", {"include_memories": False}).status_code == 200
    assert agent.put("/v1/profile/tags/risk", {"value": "aggressive"}).status_code == 200
    assert agent.post("/v1/profile/onboarding", {"risk": "conservative"}).status_code == 200
    assert agent.delete("/v1/profile/tags/risk").status_code == 200
    assert not ProposedChange.objects.exists()
