"""The demo's tags: declared, inferred and outranked, in nobody's way, and gone without a trace."""

import pytest

from minara_site.access.models import User
from minara_site.console.demo.services import load_demo, remove_demo
from profile_app.portrait.core.tags import TagSource
from profile_app.portrait.models import UserTag, UserTagEvent
from profile_app.portrait.services.tags import set_tag
from tests.kit.clock import NOON

pytestmark = pytest.mark.django_db


def test_shows_every_kind_leaves_what_was_said_and_goes(models):
    default = User.objects.get(is_default=True)
    set_tag(owner=default, name="risk", value="aggressive", source=TagSource.USER, actor="test", now=NOON)
    load_demo(now=NOON, actor="command:demo")
    tags = UserTag.objects.filter(is_demo=True)
    assert {"user", "inferred"} <= set(tags.values_list("source", flat=True))
    assert UserTag.objects.get(owner=default, name="risk").value == "aggressive"
    assert "outranked" not in UserTagEvent.objects.filter(owner=default, name="risk").values_list("kind", flat=True)
    set_tag(owner=default, name="frequency", value="daily", source=TagSource.USER, actor="test", now=NOON)
    remove_demo(now=NOON, actor="command:demo")
    assert dict(UserTag.objects.values_list("name", "value")) == {"risk": "aggressive", "frequency": "daily"}
    assert UserTagEvent.objects.count() == 2
