"""People, keys and databases that tests ask for by name."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.db import connections

from tests.kit.databases import copy_databases, drop_databases, template, use_databases
from tests.kit.messages_api import KEY, MessagesApi, serve
from tests.kit.site import Site


@pytest.fixture(scope="session")
def django_db_setup(django_test_environment: None, django_db_blocker: Any) -> Iterator[None]:
    """Give each process databases of its own: real files on SQLite, databases of a server on PostgreSQL."""
    with django_db_blocker.unblock():
        names = copy_databases("main")
        before = use_databases(names)
        for alias in names:
            creation = connections[alias].creation
            connections[alias]._test_serialized_contents = creation.serialize_db_to_string()
    yield
    with django_db_blocker.unblock():
        use_databases(before)
        drop_databases(names)


@pytest.fixture(scope="session", autouse=True)
def audit_log_can_be_emptied() -> Iterator[None]:
    """Lift the triggers of the append-only tables while Django empties the tables after a test that commits."""
    from django.db import connection
    from django.db.backends.base.operations import BaseDatabaseOperations

    from learning_app.methodologies import db_triggers as lifecycle
    from minara_site.kernel.audit_log import db_triggers

    empty_tables = BaseDatabaseOperations.execute_sql_flush

    def without_triggers(operations: Any, statements: list[str]) -> None:
        if operations.connection.alias != connection.alias:
            empty_tables(operations, statements)
            return
        with operations.connection.schema_editor() as editor:
            db_triggers.drop(*db_triggers.TABLES)(None, editor)
            lifecycle.drop(None, editor)
        empty_tables(operations, statements)
        with operations.connection.schema_editor() as editor:
            db_triggers.create(*db_triggers.TABLES)(None, editor)
            lifecycle.create(None, editor)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(BaseDatabaseOperations, "execute_sql_flush", without_triggers)
        yield


@pytest.fixture(scope="session", autouse=True)
def forced_sign_ins_count_as_typed() -> Iterator[None]:
    """Let `force_login` stand for a sign-in by password a moment ago, so that acts which ask for one are open."""
    from allauth.account.internal.flows.login import record_authentication
    from django.contrib.auth.signals import user_logged_in

    def record(sender: Any, request: Any, user: Any, **kwargs: Any) -> None:
        if not hasattr(request, "allauth"):  # a real request passes allauth's middleware
            record_authentication(request, user, method="password")

    user_logged_in.connect(record, dispatch_uid="tests.forced_sign_in")
    yield
    user_logged_in.disconnect(dispatch_uid="tests.forced_sign_in")


@pytest.fixture(autouse=True)
def nothing_is_cached() -> None:
    """Start each test with empty caches."""
    from django.core.cache import cache

    from learning_app.learnings.index import INDEXES
    from memory_app.pages.cache import PAGES

    cache.clear()
    PAGES.clear()
    INDEXES.clear()


def make_user(name: str, *, group: str | None = None, **fields: Any) -> Any:
    """Create somebody with the password `correct horse battery`."""
    from django.contrib.auth.models import Group

    from minara_site.access.models import User

    user = User.objects.create_user(username=name, password="correct horse battery", **fields)
    if group:
        user.groups.add(Group.objects.get(name=group))
    return user


@pytest.fixture
def ana(db: None) -> Any:
    """An owner."""
    return make_user("ana")


@pytest.fixture
def ben(db: None) -> Any:
    """Another owner, the stranger in most tests."""
    return make_user("ben")


@pytest.fixture
def olga(db: None) -> Any:
    """An operator."""
    return make_user("olga", group="operators")


@pytest.fixture
def sam(db: None) -> Any:
    """Support staff."""
    return make_user("sam", group="support")


@pytest.fixture(scope="session")
def migrated_site() -> Site:
    """The tables, made once for all sites."""
    return template()


@pytest.fixture
def site(tmp_path: Path, migrated_site: Site) -> Iterator[Site]:
    """An installation with its tables."""
    made = Site(tmp_path / "data", template=migrated_site)
    try:
        yield made
    finally:
        made.close()


@pytest.fixture
def models(settings: Any) -> Iterator[MessagesApi]:
    """Models that answer from a local server, which the settings name; tests tell it what to answer."""
    with serve() as api:
        chosen = {"anthropic_api_key": KEY, "anthropic_base_url": api.url}
        settings.MINARA = settings.MINARA.model_copy(update=chosen)
        yield api
