"""What the processes of the tests do."""

import json

from minara_site.kernel.limits.services import count
from tests.kit.clock import NOON
from tests.kit.racers import in_processes

LIMIT = 300


def burst(processes: int, tries: int) -> str:
    """Let processes try this often each at one moment; return how many tries of each were let through."""
    return json.dumps(in_processes(*((try_often, tries) for _process in range(processes))))


def try_often(tries: int) -> int:
    return sum(count("burst", limit=LIMIT, seconds=60, now=NOON).is_allowed for _try in range(tries))
