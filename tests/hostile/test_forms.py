"""Every form of every page, found by reading the pages: each field with odd values, never a fault (W-19)."""

from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.hostile.inputs import sample, texts
from tests.hostile.knock import Knocker, pages_for_get, path_of
from tests.hostile.markup import Form, Markup
from tests.kit.world import World

EXTRA = ("action", "all", "filter", "ids", "next", "owner", "version", "nobody_knows")
KINDS = ("application/json", "text/plain", "multipart/form-data; boundary=x", "multipart/form-data")
Sent = list[tuple[Knocker, Form]]


def forms_of(world: World, caller: Knocker) -> dict[str, Form]:
    """Return every form that posts, by its path without the ids in it, as the pages show them."""
    found: dict[str, Form] = {}
    for route in pages_for_get():
        answer = caller.get(path_of(route, world))
        if "html" not in answer.get("Content-Type", ""):
            continue
        for form in Markup(answer.content.decode()).forms:
            if form.method.lower() == "post":
                action = form.action or path_of(route, world)
                form.action = action
                found.setdefault(
                    "/".join("#" if part.isdigit() else part for part in urlsplit(action).path.split("/")), form
                )
    return found


@pytest.fixture(scope="module")
def forms(shared_world: World, django_db_blocker: Any) -> dict[str, list[Form]]:
    """Every form that Ana sees, and those that operators alone see, read once."""
    with django_db_blocker.unblock():
        of_ana, of_olga = (
            forms_of(shared_world, Knocker(shared_world.callers[name].headers)) for name in ("ana", "olga")
        )
    return {"ana": list(of_ana.values()), "olga": [form for path, form in of_olga.items() if path not in of_ana]}


@pytest.fixture
def sent_by(forms: dict[str, list[Form]], ana_page: Knocker, olga_page: Knocker) -> Sent:
    """Who sends which form."""
    return [(ana_page, form) for form in forms["ana"]] + [(olga_page, form) for form in forms["olga"]]


def test_every_field_survives_every_text(sent_by: Sent, ana_page: Knocker, olga_page: Knocker, share: int) -> None:
    assert len(sent_by) >= 15, sent_by
    for seed, (caller, form) in enumerate(sent_by):
        for field in sorted({*form.fields, *sample(EXTRA, seed, share=3)} - {"csrfmiddlewaretoken"}):
            for text in texts(seed + len(field), share=share * 20 if share > 1 else 1):
                answer = caller.post_form(form.action, form.fields | {field: text})
                assert "evil" not in answer.headers.get("Location", "")
    assert ana_page.faults == olga_page.faults == []


def test_forms_with_missing_doubled_and_many_fields(sent_by: Sent, ana_page: Knocker, olga_page: Knocker) -> None:
    for caller, form in sent_by:
        doubled = {name: [*values, *values, "x"] for name, values in form.fields.items()}
        for fields in (
            {},
            doubled,
            {f"f{n}": "x" for n in range(300)},
            {"ids": ["1"] * 5500},
            {"ids": [str(10**40), "-1", "x", "1.5"], "action": "delete"},
        ):
            caller.post_form(form.action, fields)
    assert ana_page.faults == olga_page.faults == []


def test_too_many_fields_are_refused(world: World, ana_page: Knocker) -> None:
    answer = ana_page.post_form("/memories/bulk/", {f"f{n}": "" for n in range(7000)})
    assert answer.status_code == 400
    assert "html" in answer["Content-Type"]


@pytest.mark.parametrize("kind", KINDS)
def test_another_kind_of_body(sent_by: Sent, ana_page: Knocker, olga_page: Knocker, kind: str) -> None:
    for caller, form in sent_by:
        for body in (b"", b'{"a": 1}', b"--x\r\n", b"\0" * 50):
            caller.call("POST", form.action, body, kind)
    assert ana_page.faults == olga_page.faults == []
