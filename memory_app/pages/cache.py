"""The compiled pages that this process keeps. What makes one out of date is the version in its key.

Beside that S1's lifetime of 60 seconds, and a bound: the page that was not asked for longest goes first.
"""

from collections import OrderedDict
from datetime import datetime, timedelta
from threading import Lock
from typing import NamedTuple

from memory_app.pages.core import CompiledPage

LIFETIME = timedelta(seconds=60)
MAX_PAGES = 256


class Versions(NamedTuple):
    """By what a page is out of date.

    `version` counts the changes of what the owner has, `event_id` is the newest thing that happened to a methodology.
    Of the hard constraints in force `constraints` sums the ids and `constraint_versions` the versions.
    """

    version: int
    event_id: int
    constraints: int
    constraint_versions: int


class PageKey(NamedTuple):
    """What two equal pages have in common. `is_masked` pages are for other readers than the owner."""

    owner_id: int
    symbol: str
    hard_constraints: bool
    is_masked: bool
    versions: Versions
    rules_version: str


class PageCache:
    """Pages by key, for the threads of one process."""

    def __init__(self) -> None:
        self.pages: OrderedDict[PageKey, CompiledPage] = OrderedDict()
        self.lock = Lock()

    def find(self, key: PageKey, *, now: datetime) -> CompiledPage | None:
        """Return a page that is young enough."""
        with self.lock:
            page = self.pages.get(key)
            if page is None or not is_young(page, now):
                return None
            self.pages.move_to_end(key)
            return page

    def keep(self, key: PageKey, page: CompiledPage) -> None:
        """Keep a page that was compiled now; what has grown old goes."""
        with self.lock:
            for old in [each for each, kept in self.pages.items() if not is_young(kept, page.compiled_at)]:
                del self.pages[old]
            self.pages[key] = page
            if len(self.pages) > MAX_PAGES:
                self.pages.popitem(last=False)

    def clear(self) -> None:
        """Forget every page."""
        with self.lock:
            self.pages.clear()


def is_young(page: CompiledPage, now: datetime) -> bool:
    """Say whether a page may still be answered; one from the future, after the clock was put back, may not."""
    return timedelta() <= page.age(now) < LIFETIME


PAGES = PageCache()
