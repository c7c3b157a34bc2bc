"""Verdicts and reasons in words, for the command and the pages."""

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from memory_app.bundle.core.plan import FilePlan, Reason, Verdict
from memory_app.bundle.serialisers.base import LeftOut

VERDICTS: dict[Verdict, Promise] = {
    Verdict.NEW: _("new"),
    Verdict.UPDATED: _("updated"),
    Verdict.HELD: _("held"),
    Verdict.KNOWN: _("already here"),
    Verdict.REJECTED: _("rejected"),
}
REASONS: dict[Reason, Promise] = {
    Reason.UNKNOWN_KIND: _("it lies in no folder that is imported"),
    Reason.TOO_LARGE: _("it is larger than %(about)s bytes"),
    Reason.NOT_UTF8: _("it is not UTF-8"),
    Reason.NO_FRONT_MATTER: _("it does not begin with front matter between two lines ---"),
    Reason.FRONT_MATTER_TOO_LARGE: _("its front matter is larger than 64 KiB"),
    Reason.NOT_YAML: _("its front matter is not plain YAML"),
    Reason.TOO_DEEP: _("its front matter is nested too deep"),
    Reason.ALIAS: _("its front matter has an alias or an anchor"),
    Reason.TAG: _("its front matter has a tag"),
    Reason.DUPLICATE_KEY: _("its front matter names %(about)s twice"),
    Reason.NOT_FINITE: _("its front matter has a number that is not finite or too large"),
    Reason.OTHER_SCHEMA: _("its schema_version is not 1"),
    Reason.UNKNOWN_FIELD: _("%(about)s: no such field"),
    Reason.MISSING_FIELD: _("%(about)s: missing"),
    Reason.WRONG_VALUE: _("%(about)s: not a value that can be stored"),
    Reason.WRONG_FOLDER: _("%(about)s: does not match its folder"),
    Reason.FUTURE: _("%(about)s: lies in the future"),
    Reason.HARD_CONSTRAINT: _("a hard constraint needs a person: --approve-hard-constraints at a terminal"),
    Reason.LIMITS_FULL: _("at most %(about)s limits can be in force"),
    Reason.PROFILE_FULL: _("the user profile would have more than %(about)s entries"),
    Reason.STORED: _("stored as memory %(about)s"),
    Reason.STORED_HELD: _("stored as memory %(about)s, which waits for an operator"),
    Reason.IN_TRASH: _("in the trash as memory %(about)s; restore it there"),
    Reason.RETIRED: _("retired as memory %(about)s"),
    Reason.EARLIER_VERSION: _("an earlier version of memory %(about)s, which stays as it is now"),
    Reason.REPEATED: _("the same as %(about)s"),
    Reason.SAYS_OTHERWISE: _("memory %(about)s does not match and stays; this becomes another"),
    Reason.ALREADY_SAID: _("the user profile says so"),
    Reason.VALUES_STAY: _("the user profile does not match, and that stays: %(about)s"),
    Reason.GUARD: _("the guard refuses it; an operator releases or discards it"),
    Reason.OPERATORS_ONLY: _("methodologies belong to the instance: only an operator imports them"),
    Reason.COUNTS_DIFFER: _("its confidence is not the bound of its counts, so it counts as not signed"),
    Reason.KEEPS_TRUST: _("it keeps its counts and stays out of quarantine"),
    Reason.SAME_METHOD: _("stored as methodology %(about)s, which keeps its counts and its quarantine"),
    Reason.SEEN_AGAIN: _("methodology %(about)s in other words: seen once more; its counts and its quarantine stay"),
    Reason.SAME_PREFERENCE: _("stored as preference %(about)s, which stays as it is"),
    Reason.PROPOSED: _("it becomes a proposal, and its owner decides"),
    Reason.STAYS_ACTIVE: _("it stays active"),
}
KINDS: dict[str, Promise] = {
    "memory": _("memories"),
    "user_profile": _("user profile"),
    "methodology": _("methodologies"),
    "preference": _("preferences"),
    "trade_case": _("trade cases"),
    "asset": _("pages of assets"),
}
LEFT_OUT: dict[str, Promise] = {
    LeftOut.CONSTRAINTS: _("hard constraints"),
    LeftOut.HELD: _("held by the guard"),
    LeftOut.IN_TRASH: _("in the trash"),
    LeftOut.RETIRED: _("retired facts"),
    LeftOut.METHODOLOGIES: _("methodologies of the instance"),
}


def reason_label(plan: FilePlan) -> str:
    """Return why a file has its verdict; empty when there is nothing to say."""
    return str(REASONS[plan.reason]) % {"about": plan.about} if plan.reason else ""
