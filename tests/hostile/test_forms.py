"""Every form of every page, found by reading the pages: each field with odd values, never a fault (W-19)."""

from urllib.parse import urlsplit

import pytest

from tests.contracts.world import World
from tests.hostile.inputs import sample, texts
from tests.hostile.knock import Knocker, pages_for_get, path_of
from tests.hostile.markup import Form, Markup

EXTRA = ("action", "all", "filter", "ids", "next", "owner", "version", "nobody_knows")
SIGNS_OUT = "/logout"


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


def who_sends_which(world: World, ana_page: Knocker, olga_page: Knocker) -> list[tuple[Knocker, Form]]:
    """Return every form that Ana sees with her, and those that operators alone see with Olga."""
    forms = forms_of(world, ana_page)
    others = {path: form for path, form in forms_of(world, olga_page).items() if path not in forms}
    return [*((ana_page, form) for form in forms.values()), *((olga_page, form) for form in others.values())]


def test_every_field_survives_every_text(world: World, ana_page: Knocker, olga_page: Knocker, share: int) -> None:
    forms = who_sends_which(world, ana_page, olga_page)
    assert len(forms) >= 15, forms
    for seed, (caller, form) in enumerate(forms):
        for field in sorted({*form.fields, *sample(EXTRA, seed, share=3)} - {"csrfmiddlewaretoken"}):
            for text in texts(seed + len(field), share=share * 20 if share > 1 else 1):
                answer = caller.post_form(form.action, form.fields | {field: text})
                assert "evil" not in answer.headers.get("Location", "")
    assert ana_page.faults == olga_page.faults == []


def test_forms_with_missing_doubled_and_many_fields(world: World, ana_page: Knocker, olga_page: Knocker) -> None:
    for caller, form in who_sends_which(world, ana_page, olga_page):
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


@pytest.mark.parametrize(
    "kind", ["application/json", "text/plain", "multipart/form-data; boundary=x", "multipart/form-data"]
)
def test_another_kind_of_body(world: World, ana_page: Knocker, olga_page: Knocker, kind: str) -> None:
    for caller, form in who_sends_which(world, ana_page, olga_page):
        for body in (b"", b'{"a": 1}', b"--x\r\n", b"\0" * 50):
            caller.call("POST", form.action, body, kind)
    assert ana_page.faults == olga_page.faults == []
