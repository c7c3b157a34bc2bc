"""The key of the instance is made once, whoever asks first."""

import json

import pytest

from minara_site.kernel.instance.services import get_instance_id
from tests.kit.racers import in_processes
from tests.kit.site import Site

pytestmark = [pytest.mark.processes, pytest.mark.database]
PROCESSES = 6


def ask_at_once() -> str:
    """Let several processes ask; return what each was told."""
    return json.dumps(in_processes(*[(get_instance_id,)] * PROCESSES))


def test_of_several_processes_the_first_one_wins(site: Site) -> None:
    told = json.loads(site.call(f"{__name__}:ask_at_once").splitlines()[-1])
    assert len(told) == PROCESSES
    assert len(set(told)) == 1
    assert site.query("SELECT COUNT(*) FROM instance_meta") == [(1,)]
