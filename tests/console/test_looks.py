"""Home and settings in a real browser: both widths, both themes, every role, with and without the demo."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from minara_site.access.models import User
from minara_site.console.demo.services import load_demo
from tests.browser.chromium import NARROW, WIDE, axe_clean, fits_width

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True, serialized_rollback=True)]


@pytest.mark.parametrize("look", [(WIDE, "light"), (WIDE, "dark"), (NARROW, "light"), (NARROW, "dark")])
@pytest.mark.parametrize("who", ["default", "olga", "sam"])
def test_pages_fit_and_axe_finds_nothing(
    request: Any, visit: Callable[..., Any], who: str, look: tuple[int, str]
) -> None:
    width, theme = look
    user = User.objects.get(is_default=True) if who == "default" else request.getfixturevalue(who)
    if who != "sam":
        load_demo(now=timezone.now(), actor="command:demo")
    console = visit(user, width=width, theme=theme)
    for path in ("/", "/settings/"):
        page = console.open(path)
        if folder := os.environ.get("MINARA_SHOTS"):
            name = f"{who}-{path.strip('/') or 'home'}-{theme}-{width}.png"
            page.screenshot(path=str(Path(folder) / name), full_page=True)
        fits_width(page)
        axe_clean(page)
