"""The registry: what an app's list module declares is found by its name, and one name is declared once."""

from types import SimpleNamespace

import pytest

from minara_site.kernel import registry


@pytest.fixture
def declare(monkeypatch):
    """Replace what the apps declare."""

    def replace(*declared):
        rows = [(app, SimpleNamespace(name=name)) for app, name in declared]
        monkeypatch.setattr(registry, "iterate_declared", lambda _name: iter(rows))
        registry.load.cache_clear()

    yield replace
    registry.load.cache_clear()


def test_finds_what_apps_declare_in_their_own_order_also_where_a_room_has_the_name_of_the_list():
    jobs = list(registry.load("jobs"))
    order = [jobs.index(name) for name in ("audit_log.seal", "access.clear_expired_sessions", "memories.purge_expired")]
    assert order == sorted(order)
    assert registry.load("jobs") is registry.load("jobs")
    assert registry.load("no_such_list") == {}


def test_a_name_that_two_apps_declare_is_refused_with_both_apps(declare):
    declare(("memory_app", "one"), ("memory_app", "two"), ("profile_app", "one"))
    with pytest.raises(ValueError, match="memory_app and profile_app both declare one in JOBS"):
        registry.load("jobs")
