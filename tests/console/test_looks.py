"""The home of operators and of support staff in a real browser, at both widths and in both themes."""

from collections.abc import Callable
from typing import Any

import pytest
from django.utils import timezone

from minara_site.console.demo.services import load_demo
from tests.browser.chromium import NARROW, WIDE, axe_clean, fits_width

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.mark.parametrize("look", [(WIDE, "light"), (WIDE, "dark"), (NARROW, "light"), (NARROW, "dark")])
@pytest.mark.parametrize("who", ["olga", "sam"])
def test_the_home_fits_and_axe_finds_nothing(
    request: Any, visit: Callable[..., Any], who: str, look: tuple[int, str]
) -> None:
    width, theme = look
    load_demo(now=timezone.now(), actor="command:demo")
    page = visit(request.getfixturevalue(who), width=width, theme=theme).open("/")
    fits_width(page)
    axe_clean(page)
