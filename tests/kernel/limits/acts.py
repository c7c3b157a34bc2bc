"""What the processes of the tests do."""

from minara_site.kernel.limits.services import count
from tests.kit.clock import NOON

LIMIT = 300


def burst(tries: int) -> int:
    """Try this often at one moment; return how many were let through."""
    return sum(count("burst", limit=LIMIT, seconds=60, now=NOON).is_allowed for _try in range(tries))
