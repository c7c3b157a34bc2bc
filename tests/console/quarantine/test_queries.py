"""The queue asks few queries however many kinds of items and of held texts wait at once."""

from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from minara_site.access.policy import Role
from minara_site.access.principal import Principal
from minara_site.kernel.guard.models import Hold
from minara_site.kernel.guard.rescan import rescan
from minara_site.shell.review import review_kinds
from tests.contracts.test_kinds import ATTACK, STORE
from tests.kit.api import agent_of
from tests.kit.clock import NOON
from tests.learning_app.rows import make_methodology, make_preference
from tests.memory_app.memories.factories import make_memory

MAX_QUERIES = 20


@pytest.mark.django_db
@pytest.mark.usefixtures("frozen")
def test_asks_few_queries_with_a_held_text_of_every_kind_at_once(operator_page: Client, ana: Any, olga: Any) -> None:
    for store in STORE.values():
        store(ana, ATTACK)
    rescan(now=NOON)
    assert len({*Hold.objects.open().values_list("kind", flat=True)}) == len(STORE)
    make_methodology()
    make_methodology(correct=20, used=21, quarantined_by="judge")
    make_preference(ana, state="proposed")
    own = make_memory(olga, "I hold for years")
    agent_of(olga).delete(f"/v1/memory/{own.pk}")
    addresses = ["/quarantine/"]
    for kind in review_kinds().values():
        items = kind.show_rows(list(kind.waiting()), principal=Principal(role=Role.OPERATOR, user=olga))
        assert items, kind.name
        addresses += [f"/quarantine/{kind.name}/{item.key}/" for item in items]
    operator_page.get("/quarantine/")  # the first look of a session asks more
    asked = {}
    for address in addresses:
        with CaptureQueriesContext(connection) as queries:
            assert operator_page.get(address).status_code == 200, address
        asked[address] = len(queries)
    assert max(asked.values()) <= MAX_QUERIES, asked
