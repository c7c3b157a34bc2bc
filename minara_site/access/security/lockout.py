"""Counts tries to sign in before anything is checked, so that tries at the same moment cannot slip through (W-10).

Five wrong passwords of one name from one address, or twenty tries from one address under any names, shut the door for
15 minutes. The same holds for five wrong codes of one person from anywhere: who gets that far knows the password.
What is typed inside a session is counted for that session alone (`proofs`).
A success forgives what was counted for the name, and gives its own try back to the address: somebody with an account
must not be able to wipe out what was tried under other names.
"""

import hashlib
import ipaddress
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import ceil
from typing import NoReturn

from django.db.models import F
from django.utils.translation import gettext as _

from minara_site.kernel.errors import Throttled
from minara_site.kernel.limits.models import RateCount
from minara_site.kernel.limits.services import count, delete_count

WINDOW = timedelta(minutes=15)
MAX_TRIES = 5
LONGEST_SESSION = timedelta(days=30)
MAX_TRIES_OF_ADDRESS = 20
MAX_CHALLENGES = 60
CODE_KNOWN_FOR = timedelta(minutes=5)  # longer than any code counts


@dataclass(frozen=True, slots=True)
class AttemptLimit:
    """What is counted together, and how often it may be tried."""

    key: str
    most: int
    window: timedelta = WINDOW

    @property
    def lock(self) -> str:
        """Return the key of the row that says until when it is locked."""
        return f"{self.key}:shut"

    def count_attempt(self, now: datetime) -> int:
        """Count a try and return how many are free after it; the last one locks it. Raises Throttled while locked."""
        if RateCount.objects.filter(pk=self.lock, window__lte=now.timestamp()).delete()[0]:
            delete_count(self.key)  # only whoever found the lock open does: nobody's later try is lost
        until = RateCount.objects.filter(pk=self.lock).values_list("window", flat=True).first()
        if until is not None:
            refuse(timedelta(seconds=until - now.timestamp()))
        allowance = count(
            self.key,
            limit=self.most,
            seconds=int(self.window.total_seconds()),
            now=now,
            fails_open=False,
        )
        if allowance.remaining == 0:  # nobody may try for a window, up to the second in `window`
            until_second = ceil((now + self.window).timestamp())
            ends_at = now + 2 * self.window  # as long as the tries behind it
            values = {
                "window": until_second,
                "hits": 1,
                "earlier_hits": 0,
                "ends_at": ends_at,
            }
            RateCount.objects.update_or_create(key=self.lock, defaults=values)
        if not allowance.is_allowed:
            refuse(timedelta(seconds=allowance.retry_after_seconds))
        return allowance.remaining

    def reset_attempts(self) -> None:
        delete_count(self.key)
        delete_count(self.lock)

    def uncount(self) -> None:
        """Uncount the last try; the others stay counted."""
        RateCount.objects.filter(pk=self.key, hits__gt=0).update(hits=F("hits") - 1)
        delete_count(self.lock)


def refuse(wait: timedelta) -> NoReturn:
    """Raise Throttled."""
    seconds = max(ceil(wait.total_seconds()), 1)
    minutes = ceil(seconds / 60)
    text = _("Too many wrong tries. Sign-in from here is locked; wait %(minutes)d minutes, then try again.")
    raise Throttled(
        text % {"minutes": minutes},
        code="locked",
        retry_after_seconds=seconds,
    )


def name_limit(name: str, address: str) -> AttemptLimit:
    """Return the limit of one user name, known or not, at one address."""
    folded = hashlib.sha256(name.strip().casefold().encode()).hexdigest()
    return AttemptLimit(f"sign_in:{folded}:{neighbourhood(address)}", MAX_TRIES)


def address_limit(address: str) -> AttemptLimit:
    """Return the limit of all at one address."""
    return AttemptLimit(f"sign_in:{neighbourhood(address)}", MAX_TRIES_OF_ADDRESS)


def passkey_limit(address: str) -> AttemptLimit:
    """Return the limit of those who ask for a passkey's challenge: each is kept in a session."""
    return AttemptLimit(f"passkey:{neighbourhood(address)}", MAX_CHALLENGES)


def neighbourhood(address: str) -> str:
    """Return what one machine cannot leave: an IPv4 address, or the /64 network of an IPv6 one."""
    if ":" not in address:
        return address
    return str(ipaddress.ip_network(f"{address}/64", strict=False))


def code_limit(user_id: int) -> AttemptLimit:
    """Return the limit of one person's codes, wherever they are typed."""
    return AttemptLimit(f"code:{user_id}", MAX_TRIES)


def session_limit(session_key: str) -> AttemptLimit:
    """Return the limit of what is typed inside one session, however slowly."""
    return AttemptLimit(f"session:{hashlib.sha256(session_key.encode()).hexdigest()}", MAX_TRIES, LONGEST_SESSION)


def is_first_use(*, user_id: int, code: str, now: datetime) -> bool:
    """Say whether this person types this code for the first time: a code that somebody saw opens nothing."""
    digest = hashlib.sha256(code.encode()).hexdigest()
    key = f"code:{user_id}:{digest}"
    return count(
        key,
        limit=1,
        seconds=int(CODE_KNOWN_FOR.total_seconds()),
        now=now,
        fails_open=False,
    ).is_allowed
