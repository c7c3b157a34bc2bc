"""`/profile/tags/`: what its owner declares, clears and confirms there, and what an operator sees."""

import re
from typing import Any

import pytest
from django.test import Client
from django.utils import translation

from minara_site.access.models import AccessEntry
from profile_app.portrait.core.tags import SCHEMA, TagSource
from profile_app.portrait.models import UserTag
from profile_app.portrait.pages.tags import NAMES, VALUES, anchor_of
from profile_app.portrait.services.profile import change_settings
from profile_app.portrait.services.tags import set_tag
from profile_app.rebuild.models import RebuildRun
from tests.kit.clock import NOON
from tests.kit.page import text_of, toasts_of, undo_of
from tests.learning_app.rows import make_preference

pytestmark = pytest.mark.django_db

PAGE = "/profile/tags/"


def say(owner: Any, source: TagSource, value: Any, *, name: str = "risk", **more: Any) -> None:
    set_tag(owner=owner, name=name, value=value, source=source, actor="job:test", now=NOON, **more)


def section(client: Client, name: str, query: str = "") -> str:
    """Return the text of one dimension on the page."""
    shown = client.get(PAGE + query).content.decode()
    parts = re.split(r'<div class="tag" id="(tag-[a-z0-9_-]+)">', shown)
    return " ".join(
        re.sub(
            r"<[^>]+>",
            " ",
            dict(zip(parts[1::2], parts[2::2], strict=True))[anchor_of(name)],
        ).split()
    )


def test_every_value_has_a_label() -> None:
    assert list(NAMES) == list(SCHEMA) == list(VALUES)
    assert {name: list(labels) for name, labels in VALUES.items()} == {name: list(v) for name, v in SCHEMA.items()}


def test_declares_clears_and_undoes_without_scripts(page: Client, ana: Any) -> None:
    say(ana, TagSource.INFERRED, "aggressive")
    assert "Answer five questions" in text_of(page.get(PAGE))
    answer = page.post(f"{PAGE}risk/declare/", {"value": "balanced"})
    assert (answer.status_code, answer["Location"]) == (303, f"{PAGE}#tag-risk")
    declared = page.get(PAGE)
    assert "Declared" in toasts_of(declared)[0]
    assert page.post(undo_of(declared)).status_code == 303
    assert UserTag.objects.values_list("value", "source").get() == ("aggressive", "inferred")
    page.post(f"{PAGE}risk/confirm/")
    assert UserTag.objects.values_list("value", "source").get() == ("aggressive", "user")
    assert "Confirmed: Aggressive" in section(page, "risk")
    page.post(f"{PAGE}risk/clear/")
    assert "Inferred: Aggressive counts again" in section(page, "risk")
    page.post(f"{PAGE}markets/declare/", {"value": ["stocks", "memes"]})
    page.post(f"{PAGE}FOMO%20Index/declare/", {"value": "Low"})
    assert UserTag.objects.get(name="markets").value == '["memes","stocks"]'
    assert UserTag.objects.get(name="FOMO Index").source == "user"


def test_shows_what_a_declaration_outranked_and_what_a_tag_was_read_out_of(page: Client, ana: Any) -> None:
    row = make_preference(ana, "Technical", dimension="style", state="active")
    say(ana, TagSource.LEARNED_PREFERENCE, "technical", name="style", origin=f"preference:{row.pk}")
    say(ana, TagSource.USER, "conservative")
    say(ana, TagSource.INFERRED, "aggressive")
    assert "Inferred: Aggressive , noted only: Declared: Conservative counts" in section(page, "risk")
    assert f"preference {row.pk}" in section(page, "style")
    assert f'href="/profile/preferences/{row.pk}/"' in page.get(PAGE).content.decode()
    with translation.override("zh-hans"):
        assert page.get(PAGE, headers={"accept-language": "zh-hans"}).status_code == 200


def test_says_what_a_key_declared(page: Client, ana: Any) -> None:
    for actor, is_said in (("key:agent", True), (f"user:{ana.pk}", False)):
        set_tag(owner=ana, name="risk", value="balanced", source=TagSource.USER, actor=actor, now=NOON)
        assert ("Agent" in section(page, "risk")) is is_said
        UserTag.objects.all().delete()


def test_a_wrong_value_is_said_at_its_dimension(page: Client) -> None:
    for name, body in (
        ("risk", {}),
        ("risk", {"value": "Balanced"}),
        ("markets", {}),
        ("markets", {"value": "x"}),
    ):
        answer = page.post(f"{PAGE}{name}/declare/", body)
        assert answer.status_code == 422
        assert f'id="{anchor_of(name)}-error"' in answer.content.decode()
    assert page.post(f"{PAGE}nothing/declare/", {"value": "x"}).status_code == 404
    assert not UserTag.objects.exists()


def test_says_that_the_profile_leaves_tags_out(page: Client, ana: Any) -> None:
    assert "No prompt carries these tags" not in text_of(page.get(PAGE))
    change_settings(owner=ana, settings={"include_tags": False}, actor="test", now=NOON)
    assert "No prompt carries these tags" in text_of(page.get(PAGE))


def test_an_operator_reads_and_leaves_a_trace(ana: Any, operator_page: Client, olga: Any) -> None:
    say(ana, TagSource.USER, "conservative")
    answer = operator_page.get(f"{PAGE}?owner=ana")
    assert "Conservative" in text_of(answer)
    assert "/declare/" not in answer.content.decode()
    assert AccessEntry.objects.filter(owner=ana, viewer=olga, kind="tags").count() == 1


def test_asks_as_much_for_many_tags_as_for_none(page: Client, ana: Any, django_assert_max_num_queries: Any) -> None:
    for name, values in SCHEMA.items():
        for value in list(values)[:2]:
            say(ana, TagSource.INFERRED, [value] if name == "markets" else value, name=name)
    with django_assert_max_num_queries(20):
        page.get(PAGE)


def test_names_the_rebuild_that_inferred_a_tag_and_its_evidence(page: Client, operator_page: Client, ana: Any) -> None:
    evidence = "Opened 31 positions with 10x."
    lines = [{"kind": "tag", "key": f"{ana.pk}:risk", "name": "risk", "evidence": evidence}]
    run = RebuildRun.objects.create(owner=ana, flow="tags", outcome="written", started_at=NOON, wrote=lines)
    say(ana, TagSource.INFERRED, "aggressive", origin=f"run:{run.pk}")
    for reader, query in ((page, ""), (operator_page, "?owner=ana")):
        shown = section(reader, "risk", query)
        assert f"read out of rebuild {run.pk}" in shown
        assert f"“{evidence}”" in shown
    say(ana, TagSource.USER, "balanced")
    assert evidence not in section(page, "risk")
