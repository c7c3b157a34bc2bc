"""Fixtures for every test: people, keys, real database files, and a browser."""

import shutil
import signal

import pytest
from django.conf import settings
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings

hypothesis_settings.register_profile(  # machines are noisy; figures come from the bench
    "minara", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
hypothesis_settings.load_profile("minara")

signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in a background shell, and so by our processes too

SAME_ON_EVERY_ENGINE = (  # what no database decides; the run on PostgreSQL leaves it to the one on SQLite
    "tests/access/security/test_factors.py",
    "tests/access/security/test_https.py",
    "tests/agent/mcp/test_clients.py",
    "tests/api/test_schemathesis.py",
    "tests/console/tables/test_site.py",
    "tests/contracts/test_csrf.py",
    "tests/contracts/test_key_secrecy.py",
    "tests/contracts/test_mass_assignment.py",
    "tests/contracts/test_permissions.py",
    "tests/contracts/test_supply_chain.py",
    "tests/hostile/test_bodies.py",
    "tests/hostile/test_fence.py",
    "tests/hostile/test_forms.py::test_another_kind_of_body",
    "tests/hostile/test_forms.py::test_forms_with_missing_doubled_and_many_fields",
    "tests/hostile/test_forms.py::test_too_many_fields_are_refused",
    "tests/hostile/test_logs.py",
    "tests/hostile/test_markup.py",
    "tests/hostile/test_paths.py",
    "tests/hostile/test_queries.py::test_an_address_that_leads_nowhere_is_404",
    "tests/hostile/test_queries.py::test_many_and_repeated_parameters",
    "tests/hostile/test_request_headers.py",
    "tests/hostile/test_security_headers.py",
    "tests/hostile/test_wsgi.py",
    "tests/journeys/",
    "tests/kernel/core/",
    "tests/kernel/jobs/test_worker_processes.py::test_a_worker_killed_with_the_lock_of_its_timer_is_replaced",
    "tests/kernel/jobs/test_worker_processes.py::test_an_idle_worker_killed_is_replaced",
    "tests/kernel/jobs/test_worker_processes.py::test_stops_within_seconds_and_hands_its_job_on",
    "tests/kernel/processes/",
    "tests/kernel/guard/test_core.py",
    "tests/kernel/market/adapters/",
    "tests/kernel/market/core/",
    "tests/kernel/llm/test_gateway_messages.py",
    "tests/kernel/llm/test_gateway_prices.py",
    "tests/kernel/llm/test_gateway_server.py",
    "tests/kernel/test_cli.py",
    "tests/kernel/test_up.py",
    "tests/memory_app/bundle/core/",
    "tests/memory_app/bundle/test_command.py",
    "tests/memory_app/facts/core/",
    "tests/memory_app/importers/core/",
    "tests/memory_app/pages/test_processes.py",
    "tests/memory_app/roles/core/",
    "tests/memory_app/roles/test_posthoc.py",
    "tests/memory_app/search/core/",
    "tests/memory_app/writes/core/",
    "tests/web/",
)

pytest_plugins = ["tests.fixtures", "tests.browser.chromium"]


def pytest_unconfigure(config: pytest.Config) -> None:
    """Remove the folder of this process."""
    shutil.rmtree(settings.DATA_DIR, ignore_errors=True)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out, on PostgreSQL, what has nothing to do with the database."""
    if not settings.MINARA.database_url:
        return
    left = [item for item in items if item.nodeid.startswith(SAME_ON_EVERY_ENGINE)]
    config.hook.pytest_deselected(items=left)
    items[:] = [item for item in items if item not in set(left)]


def pytest_itemcollected(item: pytest.Item) -> None:
    """Open the queue's database to every test that has one: on SQLite, limits are counted there.

    One that commits puts back what the migrations wrote: else Django writes it anew under other ids, and the next fails.
    """
    marker = item.get_closest_marker("django_db")
    if marker is None and "db" not in getattr(item, "fixturenames", ()):
        return
    options = {"databases": "__all__", **(marker.kwargs if marker else {})}
    if options.get("transaction"):
        options["serialized_rollback"] = True
    item.add_marker(pytest.mark.django_db(**options), append=False)
