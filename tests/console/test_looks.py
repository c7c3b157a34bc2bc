"""The home of operators and of support staff beside the demo in a real browser, at both widths and in both themes."""

from collections.abc import Callable
from typing import Any

import pytest
from django.utils import timezone

from minara_site.console.demo.services import load_demo
from tests.kit.chromium import NARROW, WIDE, axe_clean, fits_width

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_the_home_fits_and_axe_finds_nothing(visit: Callable[..., Any], olga: Any, sam: Any) -> None:
    load_demo(now=timezone.now(), actor="command:demo")
    for who in (olga, sam):
        for width in (WIDE, NARROW):
            page = visit(who, width=width).open("/")
            fits_width(page)
            axe_clean(page)
