"""Every form of every page, found by reading the pages: each field with odd values, never a fault (W-19)."""

from itertools import count, product
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.hostile.inputs import sample, texts
from tests.hostile.knock import Knocker, pages_for_get, path_of
from tests.hostile.markup import Form, Markup
from tests.kit.world import World

EXTRA = ("action", "all", "filter", "ids", "next", "owner", "version", "nobody_knows")
KINDS = ("application/json", "text/plain", "multipart/form-data; boundary=x", "multipart/form-data")
BODIES = (b"", b'{"a": 1}', b"--x\r\n", b"\0" * 50)
ODD_FORMS: tuple[dict[str, Any], ...] = (
    {},
    {f"f{n}": "x" for n in range(300)},
    {"ids": ["1"] * 5500},
    {"ids": [str(10**40), "-1", "x", "1.5"], "action": "delete"},
)
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
                    "/".join("#" if part.isdigit() else part for part in urlsplit(action).path.split("/")),
                    form,
                )
    return found


@pytest.fixture
def sent_by(world: World, ana_page: Knocker, olga_page: Knocker, sam_page: Knocker) -> Sent:
    """Who sends which form: Ana those that she sees, operators and support those that they alone see."""
    found: dict[str, tuple[Knocker, Form]] = {}
    for caller in (ana_page, olga_page, sam_page):
        found = {path: (caller, form) for path, form in forms_of(world, caller).items()} | found
    return list(found.values())


def test_every_field_survives_every_text(sent_by: Sent, share: int) -> None:
    """With other fields too: missing, doubled, many, and bodies that are no form."""
    assert len(sent_by) >= 15, sent_by
    seeds = count()
    for number, (caller, form) in enumerate(sent_by):
        own, extra = form.fields.keys() - {"csrfmiddlewaretoken"}, sample(EXTRA, number, share=3)
        # a form without fields of its own reads none: there each text meets all the others at once
        for fields in [[field] for field in sorted({*own, *extra})] if own else [extra]:
            for text in texts(next(seeds), share=share):
                answer = caller.post_form(form.action, form.fields | dict.fromkeys(fields, text))
                assert "evil" not in answer.headers.get("Location", "")
        doubled = {name: [*values, *values, "x"] for name, values in form.fields.items()}
        for fields in sample((doubled, *ODD_FORMS), number, share=2 if share > 1 else 1):
            caller.post_form(form.action, fields)
        for kind, body in sample(tuple(product(KINDS, BODIES)), number, share=5 if share > 1 else 1):
            caller.call("POST", form.action, body, kind)
    assert [caller.faults for caller, _form in sent_by if caller.faults] == []


def test_too_many_fields_are_refused(world: World, ana_page: Knocker) -> None:
    answer = ana_page.post_form("/memories/bulk/", {f"f{n}": "" for n in range(7000)})
    assert answer.status_code == 400
    assert "html" in answer["Content-Type"]
