"""A memory labelled as a hard constraint: its badge, its question before a change, and the preference it can become."""

import re
from typing import Any

import pytest
from django.urls import reverse

from learning_app.preferences.models import Preference
from memory_app.memories.models import Memory
from memory_app.memories.tasks import bridge_preferences
from minara_site.kernel.audit_log.models import AuditEntry
from profile_app.prompt.services import start_session
from tests.kit.clock import NOON
from tests.kit.page import text_of, toasts_of, words_of
from tests.kit.tables import Faults
from tests.learning_app.rows import make_preference
from tests.memory_app.memories.factories import make_memory

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("frozen")]
BADGE = "Hard constraint"


@pytest.fixture
def hard(ana: Any) -> Memory:
    """A limit that ana typed and labelled."""
    return make_memory(ana, "Never above 3x on BTC", fact_type="constraint.hard", tickers=["BTC"])


@pytest.fixture
def labelled(ana: Any) -> Memory:
    """What a key of ana's calls a limit."""
    return make_memory(ana, "Never above 3x on BTC", fact_type="constraint.hard", actor="key:agent")


def path(name: str, *args: Any) -> str:
    return reverse(f"memories:{name}", args=args)


def row_now(memory: Memory) -> tuple[str, int, bool]:
    memory.refresh_from_db()
    return memory.content, memory.version, memory.deleted_at is None


def edit_of(memory: Memory, statement: str, **fields: Any) -> dict[str, Any]:
    said = {"statement": statement, "fact_type": memory.fact_type, "tickers": "BTC", "reason": ""}
    return {**said, "version": memory.version, **fields}


def hidden_of(answer: Any) -> dict[str, str]:
    return dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', answer.content.decode()))


def test_it_has_a_badge_wherever_it_is_shown_and_no_other_memory_has(page: Any, ana: Any, hard: Memory) -> None:
    other, faults = make_memory(ana, "Trail BTC stops by 8%", fact_type="risk"), Faults()
    start_session(owner=ana, title="", actor="test", now=NOON)
    for label, address in (
        ("list", path("list")),
        ("detail", path("one", hard.pk)),
        ("why", reverse("why:page", args=[hard.pk])),
        ("search", "/search/?q=BTC"),
        ("asset", "/assets/BTC/"),
    ):
        with faults.row(label):
            body = text_of(page.get(address)).split("<main")[1]
            assert len(re.findall(rf'<svg[^>]*><use href="[^"]*#i-lock"/></svg>{BADGE}</span>', body)) == 1
    faults.show()
    assert BADGE not in text_of(page.get(path("one", other.pk)))


def test_changing_it_asks_first_and_carries_along_what_was_typed(page: Any, hard: Memory) -> None:
    edit, faults = path("edit", hard.pk), Faults()
    asked = page.get(edit)
    assert "Change this hard constraint?" in words_of(asked)
    assert "textarea" not in asked.content.decode()
    form = page.get(edit, hidden_of(asked))
    assert hidden_of(form)["sure"] == "1"
    blind = page.post(edit, edit_of(hard, "Never above 5x on BTC"))
    assert row_now(hard) == ("Never above 3x on BTC", 1, True)
    assert hidden_of(blind)["statement"] == "Never above 5x on BTC"
    assert page.post(edit, hidden_of(blind)).status_code == 303
    assert row_now(hard) == ("Never above 5x on BTC", 2, True)
    undo = f"{path('revert', hard.pk, 1)}?version=2"
    assert "Change this hard constraint?" in words_of(page.post(undo))
    assert row_now(hard)[1] == 2
    assert page.post(undo, {"sure": "1"}).status_code == 303
    assert row_now(hard) == ("Never above 3x on BTC", 3, True)
    for label, answer in (
        ("get", page.get(edit, headers={"HX-Request": "true", "HX-Target": "text"})),
        (
            "post",
            page.post(
                path("delete", hard.pk),
                headers={"HX-Request": "true", "HX-Target": f"memory-{hard.pk}"},
            ),
        ),
    ):
        with faults.row(f"htmx {label}"):
            assert answer["HX-Redirect"] in {edit, path("delete", hard.pk)}
    faults.show()
    assert row_now(hard)[2]


def test_deleting_it_asks_first_and_its_page_restores_it(page: Any, operator_page: Any, ana: Any, hard: Memory) -> None:
    for address in (path("list"), path("one", hard.pk)):
        assert not re.search(rf'action="{path("delete", hard.pk)}"', text_of(page.get(address)))
    asked = page.post(path("delete", hard.pk), {"next": path("list")})
    assert "This is a hard constraint" in words_of(asked)
    assert row_now(hard)[2]
    shown = page.get(page.post(path("delete", hard.pk), hidden_of(asked))["Location"])
    assert toasts_of(shown) == ["Deleted 1 memory. It can be restored for 30 days."]
    assert "data-undo" not in text_of(shown).split("toast")[-1], "no undo starts a limit"
    page.post(path("restore", hard.pk), {"next": path("list")})
    assert row_now(hard)[2]
    foreign = operator_page.post(path("delete", hard.pk), {"reason": "A copy"})
    assert "This is a hard constraint" in words_of(foreign)
    operator_page.post(path("delete", hard.pk), {"reason": "A copy", "sure": "1"})
    assert not row_now(hard)[2]


@pytest.mark.database
def test_a_bulk_delete_leaves_it_out_and_says_so(page: Any, ana: Any, ben: Any, hard: Memory) -> None:
    other, theirs = make_memory(ana, "Trail stops"), make_memory(ben, "Never BTC", fact_type="constraint.hard")
    foreign = page.post(path("bulk"), {"action": "delete", "ids": [other.pk, theirs.pk]})
    assert (foreign.status_code, row_now(other)[2]) == (404, True)
    said = "1 hard constraint was left out: delete it on its own page."
    for ids, words in (
        ([hard.pk, other.pk], f"Deleted 1 memory. It can be restored for 30 days. {said}"),
        ([hard.pk], said),
    ):
        answer = page.post(path("bulk"), {"action": "delete", "ids": ids})
        assert toasts_of(page.get(answer["Location"])) == [words]
    assert (row_now(hard)[2], row_now(other)[2]) == (True, False)


@pytest.mark.database
def test_what_a_key_labelled_becomes_a_proposal_of_its_owner_once(page: Any, ana: Any, labelled: Memory) -> None:
    hard, shown = labelled, text_of(page.get(path("one", labelled.pk)))
    assert f'#i-lock"/></svg>{BADGE}</span>' not in shown
    assert '<option value="risk_limit" selected' in shown
    make = path("make_hard", hard.pk)
    assert page.post(make, {"dimension": "mood"}).status_code == 422
    answer = page.post(make, {"dimension": "risk_limit"})
    row = Preference.objects.get()
    assert answer["Location"] == reverse("preferences:one", args=[row.pk])
    assert (row.owner, row.kind, row.state, row.statement) == (ana, "hard_constraint", "proposed", hard.content)
    assert (row.source, row.origin, row.actor) == ("user", f"memory:{hard.pk}", f"user:{ana.pk}")
    assert AuditEntry.objects.get(tool_call="preference_proposed").actor == f"user:{ana.pk}"
    shown = text_of(page.get(path("one", hard.pk)))
    assert make not in shown
    assert f'href="{reverse("preferences:one", args=[row.pk])}"' in shown
    page.post(make, {"dimension": "risk_limit"})
    assert Preference.objects.count() == 1
    Preference.objects.update(state="rejected")
    assert make in text_of(page.get(path("one", hard.pk)))


@pytest.mark.database
def test_only_its_owner_and_only_a_live_label_is_proposed(
    page: Any,
    operator_page: Any,
    ana: Any,
    ben: Any,
    hard: Memory,
    labelled: Memory,
) -> None:
    body, faults = {"dimension": "risk_limit"}, Faults()
    for label, client, memory, status in (
        ("of somebody else", page, make_memory(ben, "No", fact_type="constraint.hard"), 404),
        ("as an operator", operator_page, labelled, 404),
        ("no label", page, make_memory(ana, "Trail stops"), 409),
        ("a limit already", page, hard, 409),
        ("in the trash", page, make_memory(ana, "Gone", fact_type="constraint.hard", deleted_at=NOON), 409),
    ):
        with faults.row(label):
            assert client.post(path("make_hard", memory.pk), body).status_code == status
    faults.show()
    assert path("make_hard", labelled.pk) not in text_of(operator_page.get(path("one", labelled.pk)))
    assert not Preference.objects.exists()


def test_the_memory_of_a_preference_leads_to_it_everywhere(page: Any, ana: Any) -> None:
    row = make_preference(ana, "Never above 3x", kind="hard_constraint", dimension="risk_limit", state="active")
    bridge_preferences(ids=[row.pk], now=NOON)
    memory, link = Memory.objects.get(), f'href="{reverse("preferences:one", args=[row.pk])}"'
    for address in (path("one", memory.pk), reverse("why:page", args=[memory.pk]), path("delete", memory.pk)):
        assert link in text_of(page.get(address)), address
    assert path("make_hard", memory.pk) not in text_of(page.get(path("one", memory.pk)))
    assert "because a preference was approved" in words_of(page.get(reverse("why:page", args=[memory.pk])))
    assert page.post(path("make_hard", memory.pk), {"dimension": "risk_limit"}).status_code == 409
