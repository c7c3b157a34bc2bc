"""Installations of their own for the tests that start real processes."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.site import Site


@pytest.fixture(scope="session")
def migrated_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """The tables, made once for all sites of this run."""
    site = Site(tmp_path_factory.mktemp("template"))
    try:
        for alias in ("default",) if site.url else ("default", "queue"):
            code, output = site.run("migrate", "--database", alias, "-v0")
            assert code == 0, output
        yield site
    finally:
        site.close()


@pytest.fixture
def site(tmp_path: Path, migrated_site: Site) -> Iterator[Site]:
    """An installation with its tables."""
    made = Site(tmp_path / "data", template=migrated_site)
    try:
        yield made
    finally:
        made.close()
