"""Pure rules of sessions: how long one lives, and what a browser is called."""

from dataclasses import dataclass
from datetime import datetime, timedelta

FRESH_FOR = timedelta(minutes=10)
NOTE_VISIT_AFTER = timedelta(minutes=1)

BROWSERS = (  # the first that fits; most browsers also name those whose pages they want
    ("Edg/", "Edge"),
    ("OPR/", "Opera"),
    ("Firefox/", "Firefox"),
    ("FxiOS/", "Firefox"),
    ("CriOS/", "Chrome"),
    ("Chrome/", "Chrome"),
    ("Safari/", "Safari"),
)
SYSTEMS = (
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Android", "Android"),
    ("Windows", "Windows"),
    ("CrOS", "ChromeOS"),
    ("Mac OS X", "macOS"),
    ("Linux", "Linux"),
)


@dataclass(frozen=True, slots=True)
class Life:
    """How long a session lives without a visit, and at most."""

    idle: timedelta
    absolute: timedelta

    def is_over(
        self,
        *,
        begun_at: datetime,
        seen_at: datetime,
        now: datetime,
    ) -> bool:
        """Say whether a session that began and was last seen then has ended."""
        return now - seen_at >= self.idle or now - begun_at >= self.absolute


def first_named(names: tuple[tuple[str, str], ...], user_agent: str) -> str:
    """Return the first name whose mark stands in the text."""
    return next((name for mark, name in names if mark in user_agent), "")
