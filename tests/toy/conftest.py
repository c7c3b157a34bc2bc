"""The toy, installed for its tests alone."""

import pytest
from django.db import connection
from django.test.utils import modify_settings, override_settings

from minara_site.kernel import registry


@pytest.fixture(scope="module", autouse=True)
def installed(django_db_setup, django_db_blocker):
    """Install the toy for these tests alone: its app, addresses and table. What apps declare is read again."""
    with modify_settings(INSTALLED_APPS={"append": "tests.toy"}), override_settings(ROOT_URLCONF="tests.toy.site"):
        registry.load.cache_clear()
        from tests.toy.models import Note

        with django_db_blocker.unblock(), connection.schema_editor() as editor:
            editor.create_model(Note)
        yield
        with django_db_blocker.unblock(), connection.schema_editor() as editor:
            editor.delete_model(Note)
    registry.load.cache_clear()
