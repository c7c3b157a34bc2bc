"""The app's pages of the navigation, entry by entry."""

from django.utils.translation import gettext_lazy as _

from minara_site.access.policy import OPERATORS, OWNERS, Act, Role
from minara_site.shell.nav import NavEntry, NavPage

NAVIGATION = (
    NavPage("audit", _("Audit"), "audit:page", Act.AUDIT_READ, NavEntry.LEARNING, 1),
    NavPage("findings", _("Findings"), "audit:findings", Act.AUDIT_READ, NavEntry.LEARNING, 2),
    NavPage(
        "learnings",
        _("Learnings"),
        "learnings:list",
        Act.LEARNINGS_READ,
        NavEntry.LEARNING,
        6,
        roles=frozenset({Role.USER}),
    ),
    NavPage(
        "operators.learnings",
        _("Learnings"),
        "learnings:list",
        Act.LEARNINGS_READ,
        NavEntry.LEARNING,
        4,
        roles=OPERATORS,
    ),
    NavPage(
        "methodologies",
        _("Methodologies"),
        "methodologies:list",
        Act.METHODOLOGIES_READ,
        NavEntry.LEARNING,
        7,
        roles=frozenset({Role.USER}),
    ),
    NavPage(
        "operators.methodologies",
        _("Methodologies"),
        "methodologies:list",
        Act.METHODOLOGIES_READ,
        NavEntry.LEARNING,
        3,
        roles=OPERATORS,
    ),
    NavPage(
        "institution",
        _("Institution"),
        "institution:list",
        Act.INSTITUTION_READ,
        NavEntry.LEARNING,
        8,
        roles=OWNERS,
        also=("institution:start",),
    ),
    NavPage(
        "support.institution",
        _("Institution runs"),
        "institution:list",
        Act.INSTITUTION_READ,
        NavEntry.INSTITUTION,
        1,
        roles=frozenset({Role.SUPPORT}),
    ),
    NavPage("preferences", _("Preferences"), "preferences:list", Act.PREFERENCES_READ, NavEntry.PROFILE, 3),
    NavPage("cases", _("Trading cases"), "cases:list", Act.CASES_READ, NavEntry.TRADING, 2, "c", roles=OWNERS),
    NavPage("lessons", _("Lessons"), "lessons:list", Act.LESSONS_READ, NavEntry.TRADING, 6, roles=OWNERS),
    NavPage("ledger", _("Ledger"), "ledger:list", Act.LEDGER_READ, NavEntry.TRADING, 1, roles=OWNERS),
    NavPage(
        "support.ledger",
        _("Ledger"),
        "ledger:list",
        Act.LEDGER_READ,
        NavEntry.LEDGER,
        1,
        roles=frozenset({Role.SUPPORT}),
    ),
    NavPage(
        "support.cases",
        _("Trading cases"),
        "cases:list",
        Act.CASES_READ,
        NavEntry.TRADING_CASES,
        1,
        "c",
        roles=frozenset({Role.SUPPORT}),
    ),
)
