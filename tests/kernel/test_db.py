"""Housekeeping: what was deleted is in neither the file nor its log."""

import pytest

from tests.kit.site import SERVER_URL

pytestmark = [pytest.mark.processes, pytest.mark.database]


def leave_and_remove(canary: str) -> bool:
    """Write a row, delete it, and checkpoint; runs in a process of its own."""
    from minara_site.kernel.db import checkpoint, vacuum
    from minara_site.kernel.jobs.models import Lease

    Lease.objects.create(name=canary, holder="x", expires_at="2030-01-01T00:00:00Z")
    Lease.objects.filter(name=canary).delete()
    vacuum()
    return checkpoint()


def test_a_checkpoint_leaves_nothing_of_a_deleted_row(site):
    canary = "canary-3f9a"
    assert site.call("tests.kernel.test_db:leave_and_remove", canary) == "True"
    files = [] if SERVER_URL else list(site.folder.glob("minara.db*"))
    assert [path.name for path in files if canary.encode() in path.read_bytes()] == []
