"""What must hold for every answer of every page and operation. A judge returns what is wrong, or nothing.

A new promise about every door is a function here; it needs no sweep of its own.
"""

import re
from collections import Counter
from collections.abc import Callable
from html.parser import HTMLParser

from tests.contracts.sweep import Visit, outcome
from tests.kit.api import PROBLEM_FIELDS
from tests.kit.world import BENS

Judge = Callable[[Visit], str]
MAX_QUERIES = 20
MAX_ALIKE = 4  # the same statement again and again is a query per row
POLICY = {
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "object-src 'none'",
}
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "X-Frame-Options": "DENY",
}
WRITE = re.compile(
    r"\s*(?:INSERT|UPDATE|DELETE|REPLACE|MERGE|CREATE|DROP|ALTER|TRUNCATE)\b[^\"]*\"?(\w*)",
    re.IGNORECASE,
)
# Who looked and how often, and that writes work: no state of an owner
LOGS = {
    *("access_log", "search_log", "search_log_hits", "suggestion_log", "changes_visits"),
    *("busy_marks", "rate_counts", "instance_meta"),
}
OF_THE_TRANSACTION = re.compile(r"\s*(?:SAVEPOINT|RELEASE|ROLLBACK|BEGIN|COMMIT|SET|PRAGMA)\b", re.IGNORECASE)
REVEALS = {
    f"{page}reveal/{end}"
    for page in ("trading-cases/<int:case_id>/", "ledger/trades/<str:trade_uid>/", "ledger/trips/<int:trip_id>/")
    for end in ("", "end/")
}
REVEAL_LOGS = re.compile(r'\w+[^"]*"(?:audit_log|django_session)"')  # that it was done, and the message of it
OWN_ACCOUNT = ("login", "logout", "mfa", "reauthenticate", "settings/", "first-steps/")


def permission(visit: Visit) -> str:
    """Everybody meets what the permission table says (trust W-01)."""
    met = outcome(visit.response, visit.caller)
    if met is visit.expected:
        return ""
    error = getattr(visit.response, "exc_info", None)
    return f"{met}, the table says {visit.expected}" + (f": {error[1]!r}" if error else "")


def reading_writes_nothing(visit: Visit) -> str:
    """GET, HEAD and OPTIONS change no row but those that log the look itself (W-05)."""
    return "" if not visit.reads else ", ".join(writes_in(visit.statements))


def support_writes_nothing(visit: Visit) -> str:
    """Support staff change nothing but their own account; a reveal only says that it was done (W-04)."""
    is_theirs = visit.route.startswith(OWN_ACCOUNT)
    written = writes_in(visit.statements)
    if visit.route in REVEALS:
        written = [sql for sql in written if not REVEAL_LOGS.match(sql)]
    return "" if visit.caller != "sam" or is_theirs else ", ".join(written)


def headers(visit: Visit) -> str:
    """Every answer carries the content policy and its relatives, and stays out of caches (W-07, W-08)."""
    sent = visit.response.headers
    wrong = [name for name, value in HEADERS.items() if sent.get(name) != value]
    if {part.strip() for part in sent.get("Content-Security-Policy", "").split(";")} != POLICY:
        wrong.append("Content-Security-Policy")
    if "no-store" not in sent.get("Cache-Control", ""):
        wrong.append("Cache-Control")
    if not {"HX-Request", "Cookie"} <= {part.strip() for part in sent.get("Vary", "").split(",")}:
        wrong.append("Vary")
    if not sent.get("X-Request-ID"):
        wrong.append("X-Request-ID")
    return ", ".join(wrong)


def isolation(visit: Visit) -> str:
    """Nothing that Ana or her agents read shows anything of Ben (W-02)."""
    if visit.caller not in {"ana", "key_read", "key_write"}:
        return ""
    return f"shows {BENS}" if BENS in visit.text or BENS in repr(visit.response.headers) else ""


def queries(visit: Visit) -> str:
    """A read takes at most 20 queries, and none of them once for each row."""
    asked = [sql for sql in visit.statements if not OF_THE_TRANSACTION.match(sql)]
    if not visit.reads:
        return ""
    if len(asked) > MAX_QUERIES:
        return f"{len(asked)} queries"
    often = [f"{count} x {sql[:300]}" for sql, count in Counter(asked).items() if count > MAX_ALIKE]
    return "; ".join(often)


def problem(visit: Visit) -> str:
    """The API refuses with a whole problem document."""
    response = visit.response
    if not visit.route.startswith("v1/") or response.status_code < 400 or visit.method in {"HEAD", "OPTIONS"}:
        return ""
    if response.headers["Content-Type"] != "application/problem+json":
        return f"{response.status_code} is {response.headers['Content-Type']}"
    missing = PROBLEM_FIELDS - response.json().keys()
    return f"{response.status_code} lacks {sorted(missing)}" if missing else ""


def markup(visit: Visit) -> str:
    """A page names its language, has one heading of the first order, no id twice, nothing inline, a token in each form."""
    is_page = visit.response.headers.get("Content-Type", "").startswith("text/html") and visit.method != "HEAD"
    if not is_page or "<html" not in visit.text or visit.route == "v1/docs":  # django-ninja's viewer
        return ""
    page = Outline(visit.text)
    twice = [name for name, count in page.ids.items() if count > 1]
    wrong = [*page.faults, *(f"id {name} twice" for name in twice)]
    if page.headings != 1:
        wrong.append(f"{page.headings} headings of the first order")
    return ", ".join(wrong)


class Outline(HTMLParser):
    """Reads what `markup` judges."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.ids: Counter[str] = Counter()
        self.faults: list[str] = []
        self.headings = 0
        self.waits_for_token = False
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        got = {name: value or "" for name, value in attrs}
        self.ids.update([got["id"]] if got.get("id") else [])
        self.headings += tag == "h1"
        if tag == "html" and not got.get("lang"):
            self.faults.append("no language")
        if tag == "style" or (tag == "script" and "src" not in got and got.get("type") != "application/json"):
            self.faults.append(f"inline {tag}")
        self.faults += [f"{name} on {tag}" for name in got if name == "style" or name.startswith("on")]
        if tag == "form":
            self.waits_for_token = got.get("method", "get").lower() == "post"
        if tag == "input" and got.get("name") == "csrfmiddlewaretoken":
            self.waits_for_token = False

    def handle_endtag(self, tag: str) -> None:
        if tag == "form" and self.waits_for_token:
            self.faults.append("a form without a token")


def writes_in(statements: list[str]) -> list[str]:
    """Return the statements that change a table which is no log."""
    found = [(match, sql) for sql in statements if (match := WRITE.match(sql))]
    return [sql[:200] for match, sql in found if match[1] not in LOGS]


JUDGES: tuple[Judge, ...] = (
    permission,
    reading_writes_nothing,
    support_writes_nothing,
    headers,
    isolation,
    queries,
    problem,
    markup,
)


def faults_of(visit: Visit) -> list[str]:
    """Return what every judge finds."""
    return [f"{judge.__name__}: {visit.name}: {said}" for judge in JUDGES if (said := judge(visit))]
