"""The app's pages of the navigation, entry by entry."""

from django.utils.translation import gettext_lazy as _

from memory_app.facts.selectors import list_conflicts
from memory_app.roles.selectors import list_manual_due
from minara_site.access.policy import Act
from minara_site.kernel.ownership import EVERYONE
from minara_site.shell.nav import NavEntry, NavPage

NAVIGATION = (
    NavPage(
        "conflicts",
        _("Conflicts"),
        "facts:conflicts",
        Act.FACTS_READ,
        NavEntry.REVIEW,
        3,
        waiting=lambda _principal, _now: {"conflict": list_conflicts(owner=EVERYONE)},
        of_all=True,
    ),
    NavPage(
        "outcomes",
        _("Outcomes to mark"),
        "role_memory:outcomes",
        Act.ROLE_MEMORY_READ,
        NavEntry.REVIEW,
        4,
        waiting=lambda _principal, now: {"outcome": list_manual_due(owner=EVERYONE, now=now)},
        of_all=True,
    ),
    NavPage("memories", _("Memories"), "memories:list", Act.MEMORY_READ, NavEntry.MEMORIES, 1, "m"),
    NavPage("facts", _("Facts"), "facts:list", Act.FACTS_READ, NavEntry.MEMORIES, 2, "f"),
    NavPage("user_profile", _("Profile values"), "user_profile:page", Act.USER_PROFILE_READ, NavEntry.MEMORIES, 3, "u"),
    NavPage("trash", _("Trash"), "memories:trash", Act.MEMORY_READ, NavEntry.MEMORIES, 5, "t"),
    NavPage("writers", _("Writers"), "writes:page", Act.WRITES_READ, NavEntry.MEMORIES, 6, "w"),
    NavPage("search", _("Search"), "search:page", Act.SEARCH, NavEntry.SEARCH, 1, "s"),
    NavPage("compare_rankings", _("Compare rankings"), "search_lab:page", Act.SEARCH, NavEntry.SEARCH, 2),
    NavPage("assets", _("Assets"), "pages:list", Act.COMPILED_READ, NavEntry.ASSETS, 1),
    NavPage("links", _("Links"), "edges:graph", Act.GRAPH_READ, NavEntry.ASSETS, 2),
    NavPage("decisions", _("Decisions"), "role_memory:list", Act.ROLE_MEMORY_READ, NavEntry.LEARNING, 5, "d"),
    NavPage("decision_roles", _("Decision roles"), "roles:list", Act.ROLES_READ, NavEntry.LEARNING, 6, "r"),
    NavPage("doctor", _("Doctor"), "doctor:page", Act.DOCTOR, NavEntry.SYSTEM, 2),
    NavPage("semantic_search", _("Semantic search"), "embeddings:page", Act.EMBEDDINGS, NavEntry.SYSTEM, 6),
    NavPage("your_data", _("Your data"), "bundle:exports", Act.EXPORT, NavEntry.SETTINGS, 6, also=("bundle:imports",)),
)
