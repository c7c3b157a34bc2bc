"""The permission table: every door, every principal, what happens (trust W-01).

It is written by hand and compared with the code, so that neither changes alone. Objects in paths are ana's; the keys
key_read, key_write and key_agent are ana's too, key_operator has every scope of olga, an operator.
A method that a row does not name answers 405 to everybody.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from minara_site.access.policy import Act, Scope

PRINCIPALS = (
    "anonymous",
    "ana",
    "ben",
    "sam",
    "olga",
    "disabled",
    "key_read",
    "key_write",
    "key_agent",
    "key_operator",
    "key_revoked",
    "key_expired",
)
METHODS = ("GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE")


class Outcome(StrEnum):
    """What a caller meets."""

    OPEN = "open"  # past the guard: an answer, a redirect, or what is wrong with the input
    SIGN_IN = "302 to the sign-in page"
    UNKNOWN = "401"
    REFUSED = "403"
    MISSING = "404"
    NO_METHOD = "405"
    FAILED = "500 or above"


OPEN, SIGN_IN, UNKNOWN, REFUSED, MISSING, NO_METHOD, FAILED = Outcome
Audience = dict[str, Outcome]


@dataclass(frozen=True)
class Row:
    """What the table says about a page: the act of its guard, and per method who gets what.

    `act` is None where the framework answers and no guard can stand.
    """

    act: Act | None
    methods: Mapping[str, Audience]


def on_page(
    *,
    ana: Outcome,
    ben: Outcome,
    sam: Outcome,
    olga: Outcome,
    strangers: Outcome = SIGN_IN,
) -> Audience:
    """Return a page's audience; keys open no page, so who has only a key is a stranger."""
    return {**dict.fromkeys(PRINCIPALS, strangers), "ana": ana, "ben": ben, "sam": sam, "olga": olga}


EVERY_PRINCIPAL = dict.fromkeys(PRINCIPALS, OPEN)
NOBODY = dict.fromkeys(PRINCIPALS, MISSING)
PEOPLE = on_page(ana=OPEN, ben=OPEN, sam=OPEN, olga=OPEN)
OWNERS = on_page(ana=OPEN, ben=OPEN, sam=REFUSED, olga=OPEN)
OPERATORS = on_page(ana=REFUSED, ben=REFUSED, sam=REFUSED, olga=OPEN)
REVIEWERS = on_page(ana=MISSING, ben=MISSING, sam=REFUSED, olga=OPEN)  # owners find their own proposals there
NO_OWNER = on_page(ana=MISSING, ben=MISSING, sam=REFUSED, olga=MISSING)
ONLY_ANA = on_page(ana=OPEN, ben=MISSING, sam=REFUSED, olga=MISSING)
ANAS_OWN = on_page(ana=OPEN, ben=MISSING, sam=MISSING, olga=MISSING)  # support staff have an account too
ANA_HERSELF = on_page(ana=OPEN, ben=MISSING, sam=REFUSED, olga=REFUSED)
ANA_AND_OPERATORS = on_page(ana=OPEN, ben=MISSING, sam=REFUSED, olga=OPEN)
SUPPORT = on_page(ana=REFUSED, ben=REFUSED, sam=OPEN, olga=REFUSED)
WITH_TAGS = on_page(ana=OPEN, ben=OPEN, sam=REFUSED, olga=MISSING)
ANA_AND_STAFF = on_page(ana=OPEN, ben=MISSING, sam=OPEN, olga=OPEN)


OPERATORS_KEY = {  # cookies count for nothing
    **dict.fromkeys(PRINCIPALS, UNKNOWN),
    **dict.fromkeys(("key_read", "key_write", "key_agent"), REFUSED),
    "key_operator": OPEN,
}


ANY_KEY = {  # cookies count for nothing
    **dict.fromkeys(PRINCIPALS, UNKNOWN),
    **dict.fromkeys(("key_read", "key_write", "key_agent", "key_operator"), OPEN),
}


def page(act: Act, *, get: Audience | None = None, post: Audience | None = None) -> Row:
    """Return a row; HEAD goes where GET goes."""
    methods = {"GET": get, "HEAD": get, "POST": post}
    return Row(act, {method: audience for method, audience in methods.items() if audience is not None})


def by_key(scope: Scope | None, *, object_of_ana: bool = False, typed: bool = False) -> Audience:
    """Return an operation's audience: `scope` is what a key needs, None for any key.

    An object of ana is missing for everybody else, also for operators, who name another owner in `?owner=`. One that
    she `typed` herself is not a key's to change.
    """

    def key(*has: Scope) -> Outcome:
        return OPEN if not typed and (scope is None or scope in has) else REFUSED

    reads, writes = [s for s in Scope if s.endswith(":read")], [s for s in Scope if s.endswith(":write")]
    others = MISSING if object_of_ana else OPEN
    return {
        "anonymous": UNKNOWN,
        "ana": OPEN,
        "ben": others,
        "sam": REFUSED,
        "olga": others,
        "disabled": UNKNOWN,
        "key_read": key(*reads),
        "key_write": key(*writes),
        "key_agent": key(*reads, *writes),
        "key_operator": others,
        "key_revoked": UNKNOWN,
        "key_expired": UNKNOWN,
    }


PAGES: dict[str, Row] = {
    "healthz": page(Act.PROBE, get=EVERY_PRINCIPAL),
    "readyz": page(Act.PROBE, get=EVERY_PRINCIPAL),
    "mcp": page(Act.TOOLS, post=ANY_KEY),
    "v1/": Row(None, dict.fromkeys(METHODS, NOBODY)),  # django-ninja's anchor for addresses
    "v1/openapi.json": page(Act.API_DOCS, get=EVERY_PRINCIPAL),
    "v1/docs": page(Act.API_DOCS, get=EVERY_PRINCIPAL),
    "": page(Act.HOME, get=PEOPLE),
    "login": page(Act.SIGN_IN, get=EVERY_PRINCIPAL, post=EVERY_PRINCIPAL),
    "logout": page(Act.SIGN_OUT, post=PEOPLE),
    "welcome/": page(Act.CLAIM_SETUP, post=NOBODY),  # somebody operates this instance already
    "welcome/<str:token>/": page(Act.CLAIM_SETUP, get=NOBODY),
    "invite/": page(Act.ACCEPT_INVITATION, post=NOBODY),  # nobody here has been invited
    "invite/<str:token>/": page(Act.ACCEPT_INVITATION, get=NOBODY),
    "settings/theme/": page(Act.OWN_SETTINGS, post=PEOPLE),
    "settings/keys/": page(Act.KEYS, get=OWNERS),
    "settings/keys/new/": page(Act.KEY_CREATE, get=OWNERS, post=OWNERS),
    "settings/keys/<str:prefix>/revoke/": page(Act.KEYS, get=ONLY_ANA, post=ONLY_ANA),
    "settings/": page(Act.OWN_SETTINGS, get=PEOPLE, post=PEOPLE),
    "mfa": page(Act.SIGN_IN, get=PEOPLE, post=PEOPLE),  # who is signed in goes home, strangers begin anew
    "reauthenticate": page(Act.SECURITY, get=PEOPLE, post=PEOPLE),
    "login/passkey/": page(Act.SIGN_IN, post=EVERY_PRINCIPAL),
    "login/passkey/options/": page(Act.SIGN_IN, post=EVERY_PRINCIPAL),
    "settings/security/": page(Act.SECURITY, get=PEOPLE),
    "settings/security/password/": page(Act.SECURITY_CHANGE, get=PEOPLE, post=PEOPLE),
    "settings/security/app/": page(Act.SECURITY_CHANGE, get=PEOPLE, post=PEOPLE),
    "settings/security/passkeys/new/": page(Act.SECURITY_CHANGE, get=PEOPLE, post=PEOPLE),
    "settings/security/passkeys/options/": page(Act.SECURITY_CHANGE, post=PEOPLE),
    "settings/security/codes/": page(Act.SECURITY_CHANGE, get=PEOPLE, post=PEOPLE),
    "settings/security/factors/<int:factor_id>/remove/": page(Act.SECURITY_CHANGE, get=ANAS_OWN, post=ANAS_OWN),
    "settings/security/sign-ins/end/": page(Act.SECURITY_CHANGE, post=PEOPLE),
    "settings/security/sign-ins/<int:sign_in_id>/end/": page(Act.SECURITY_CHANGE, post=ANAS_OWN),
    "first-steps/again/": page(Act.OWN_SETTINGS, post=PEOPLE),
    "first-steps/<str:step>/": page(Act.OWN_SETTINGS, post=PEOPLE),
    "ops/jobs/": page(Act.JOBS_READ, get=OPERATORS),
    "ops/jobs/start/": page(Act.JOBS_RUN, post=OPERATORS),
    "ops/jobs/<int:run_id>/": page(Act.JOBS_READ, get=OPERATORS),
    "ops/jobs/<int:run_id>/progress/": page(Act.JOBS_READ, get=OPERATORS),
    "ops/jobs/<int:run_id>/cancel/": page(Act.JOBS_RUN, post=OPERATORS),
    "ops/jobs/<int:run_id>/retry/": page(Act.JOBS_RUN, post=OPERATORS),
    "ops/embeddings/": page(Act.EMBEDDINGS, get=OPERATORS),
    "ops/embeddings/backfill/": page(Act.EMBEDDINGS, post=OPERATORS),
    "ops/writes/": page(Act.WRITES_READ, get=OPERATORS),
    "ops/writes/rows/": page(Act.WRITES_READ, get=OPERATORS),
    "ops/writes/roll-back/": page(Act.WRITES_READ, get=OPERATORS),
    "ops/writes/roll-back/apply/": page(Act.WRITES_ROLL_BACK, get=OPERATORS, post=OPERATORS),
    "ops/doctor/": page(Act.DOCTOR, get=OPERATORS),
    "ops/doctor/anonymous.json": page(Act.DOCTOR, get=OPERATORS),
    "ops/doctor/look/": page(Act.DOCTOR, post=OPERATORS),
    "ops/doctor/runs/<int:fix_run_id>/": page(Act.DOCTOR, get=OPERATORS),
    "ops/doctor/runs/<int:fix_run_id>/apply/": page(Act.DOCTOR_FIX, post=OPERATORS),
    "ops/writes/<int:rollback_id>/": page(Act.WRITES_READ, get=OPERATORS),
    "ops/writes/<int:rollback_id>/undo/": page(Act.WRITES_ROLL_BACK, get=OPERATORS, post=OPERATORS),
    "ops/export/": page(Act.EXPORT, get=OWNERS, post=OWNERS),
    "ops/export/<int:export_id>/": page(Act.EXPORT, get=ANA_AND_OPERATORS),
    "ops/export/<int:export_id>/progress/": page(Act.EXPORT, get=ANA_AND_OPERATORS),
    "ops/export/<int:export_id>/download/": page(Act.EXPORT, get=ONLY_ANA),
    "ops/export/<int:export_id>/remove/": page(Act.EXPORT, post=ANA_AND_OPERATORS),
    "ops/import/<int:import_id>/remove/": page(Act.IMPORT_PREVIEW, post=ANA_AND_OPERATORS),
    "ops/import/": page(Act.IMPORT_PREVIEW, get=OWNERS, post=OWNERS),
    "ops/import/<int:import_id>/": page(Act.IMPORT_PREVIEW, get=ANA_AND_OPERATORS),
    "ops/import/<int:import_id>/progress/": page(Act.IMPORT_PREVIEW, get=ANA_AND_OPERATORS),
    "ops/import/<int:import_id>/constraints/": page(Act.IMPORT_APPLY, get=ANA_HERSELF, post=ANA_HERSELF),
    "ops/import/<int:import_id>/apply/": page(Act.IMPORT_APPLY, get=ANA_AND_OPERATORS, post=ANA_AND_OPERATORS),
    "ops/budgets/": page(Act.BUDGET_READ, get=OPERATORS),
    "ops/budgets/<str:category>/<str:window>/raise/": page(Act.BUDGET_CHANGE, get=OPERATORS, post=OPERATORS),
    "ops/budgets/<str:category>/<str:window>/clear/": page(Act.BUDGET_CHANGE, post=OPERATORS),
    "ops/internals/capital/": page(Act.INTERNALS_READ, get=OPERATORS),
    "ops/internals/strategy-runs/": page(Act.INTERNALS_READ, get=OPERATORS),
    "ops/governance/": page(Act.GOVERNANCE_READ, get=OPERATORS),
    "ops/governance/breaker/": page(Act.GOVERNANCE_CHANGE, get=OPERATORS, post=OPERATORS),
    "ops/governance/model_calls/": page(Act.GOVERNANCE_CHANGE, get=OPERATORS, post=OPERATORS),
    "ops/governance/personalization_rebuild/": page(Act.GOVERNANCE_CHANGE, get=OPERATORS, post=OPERATORS),
    "ops/governance/role_reflection/": page(Act.GOVERNANCE_CHANGE, get=OPERATORS, post=OPERATORS),
    "ops/governance/learning_review/": page(Act.GOVERNANCE_CHANGE, get=OPERATORS, post=OPERATORS),
    "ops/governance/methodology_verdicts/": page(Act.GOVERNANCE_CHANGE, get=OPERATORS, post=OPERATORS),
    "ops/governance/methodology_candidates/": page(Act.GOVERNANCE_CHANGE, get=OPERATORS, post=OPERATORS),
    "ops/governance/preference_mining/": page(Act.GOVERNANCE_CHANGE, get=OPERATORS, post=OPERATORS),
    "ops/governance/reflection_notes/": page(Act.GOVERNANCE_CHANGE, get=OPERATORS, post=OPERATORS),
    "ops/governance/institution_runs/": page(Act.GOVERNANCE_CHANGE, get=OPERATORS, post=OPERATORS),
    "ops/governance/contradiction_judge/": page(Act.GOVERNANCE_CHANGE, get=OPERATORS, post=OPERATORS),
    "ops/scan-rules/": page(Act.SCAN_RULES, get=OPERATORS, post=OPERATORS),
    "ops/scan-rules/rescan/": page(Act.SCAN_RULES, post=OPERATORS),
    "ops/audit-log/": page(Act.AUDIT_LOG, get=OPERATORS),
    "ops/audit-log/<int:audit_entry_id>/": page(Act.AUDIT_LOG, get=OPERATORS),
    "ops/audit-log/chain/": page(Act.AUDIT_LOG, get=OPERATORS),
    "ops/audit-log/check/": page(Act.JOBS_RUN, post=OPERATORS),
    "ops/audit-log/export.<str:suffix>": page(Act.AUDIT_LOG, get=OPERATORS),
    "demo/load/": page(Act.DEMO, post=OPERATORS),
    "demo/remove/": page(Act.DEMO, get=OPERATORS, post=OPERATORS),
    "ops/users/": page(Act.USERS_READ, get=OPERATORS),
    "ops/users/invite/": page(Act.USERS_CHANGE, get=OPERATORS, post=OPERATORS),
    "ops/users/<int:user_id>/": page(Act.USERS_READ, get=OPERATORS),
    "ops/users/<int:user_id>/role/": page(Act.USERS_CHANGE, get=OPERATORS, post=OPERATORS),
    "ops/users/<int:user_id>/link/": page(Act.USERS_CHANGE, get=OPERATORS, post=OPERATORS),
    "ops/users/<int:user_id>/link/withdraw/": page(Act.USERS_CHANGE, post=OPERATORS),
    "ops/users/<int:user_id>/disable/": page(Act.USERS_CHANGE, get=OPERATORS, post=OPERATORS),
    "ops/users/<int:user_id>/enable/": page(Act.USERS_CHANGE, get=OPERATORS, post=OPERATORS),
    "ops/users/<int:user_id>/sessions/end/": page(Act.USERS_CHANGE, get=OPERATORS, post=OPERATORS),
    "ops/users/<int:user_id>/second-factor/reset/": page(Act.USERS_CHANGE, get=OPERATORS, post=OPERATORS),
    "ops/users/<int:user_id>/keys/<str:prefix>/revoke/": page(Act.USERS_CHANGE, get=OPERATORS, post=OPERATORS),
    "ops/access-log/": page(Act.ACCESS_LOG, get=OPERATORS),
    "ops/settings/": page(Act.EFFECTIVE_SETTINGS, get=OPERATORS),
    "ops/prices/": page(Act.PRICES_REVIEW, get=OPERATORS),
    "ops/prices/<int:seconds>/<int:price_id>/confirm/": page(Act.PRICES_REVIEW, post=OPERATORS),
    "ops/prices/<int:seconds>/<int:price_id>/doubt/": page(Act.PRICES_REVIEW, post=OPERATORS),
    "ops/status/": page(Act.STATUS, get=OPERATORS),
    "metrics": page(Act.METRICS, get=OPERATORS_KEY),
    "privacy/looks/": page(Act.OWN_SETTINGS, get=PEOPLE),
    "settings/reveals/": page(Act.OWN_SETTINGS, get=PEOPLE),
    "memories/": page(Act.MEMORY_READ, get=OWNERS),
    "memories/trash/": page(Act.MEMORY_READ, get=OWNERS),
    "memories/held/": page(Act.HOLDS_READ, get=OWNERS),
    "memories/held/bulk/": page(Act.HOLD_DISCARD, post=ANA_AND_OPERATORS),
    "memories/held/<int:hold_id>/": page(Act.HOLDS_READ, get=ANA_AND_OPERATORS),
    "memories/held/<int:hold_id>/release/": page(Act.HOLD_RELEASE, post=OPERATORS),
    "memories/held/<int:own_hold_id>/let-in/": page(Act.DOCUMENT_RELEASE, post=ONLY_ANA),
    "memories/held/<int:hold_id>/discard/": page(Act.HOLD_DISCARD, post=ANA_AND_OPERATORS),
    "memories/held/<int:hold_id>/again/": page(Act.HOLD_DISCARD, post=ANA_AND_OPERATORS),
    "memories/held/<int:hold_id>/undo/": page(Act.HOLD_DISCARD, post=ANA_AND_OPERATORS),
    "quarantine/": page(Act.REVIEW_OWN, get=OWNERS),
    "quarantine/verdict/": page(Act.REVIEW_OWN, post=REVIEWERS),
    "quarantine/undo/<str:review_items>/": page(Act.REVIEW_OWN, post=REVIEWERS),
    "quarantine/claim/<slug:review_kind>/<str:review_key>/": page(Act.REVIEW_OWN, post=REVIEWERS),
    "quarantine/<slug:review_kind>/<str:review_key>/": page(Act.REVIEW_OWN, get=REVIEWERS),
    "quarantine/decided/": page(Act.REVIEW, get=OPERATORS),
    "quarantine/decided/<int:hold_id>/": page(Act.REVIEW, get=OPERATORS),
    "memories/new/": page(Act.MEMORY_WRITE, get=OWNERS, post=OWNERS),
    "memories/count/": page(Act.MEMORY_WRITE, post=OWNERS),
    "memories/bulk/": page(Act.MEMORY_REMOVE, post=ANA_AND_OPERATORS),
    "memories/<int:memory_id>/": page(Act.MEMORY_READ, get=ANA_AND_OPERATORS),
    "memories/<int:memory_id>/why/": page(Act.MEMORY_READ, get=ANA_AND_OPERATORS),
    "memories/<int:memory_id>/edit/": page(Act.MEMORY_WRITE, get=ONLY_ANA, post=ONLY_ANA),
    "memories/<int:memory_id>/history/<int:version>/revert/": page(Act.MEMORY_WRITE, post=ONLY_ANA),
    "memories/<int:memory_id>/delete/": page(Act.MEMORY_REMOVE, get=ANA_AND_OPERATORS, post=ANA_AND_OPERATORS),
    "memories/<int:memory_id>/restore/": page(Act.MEMORY_REMOVE, get=ANA_AND_OPERATORS, post=ANA_AND_OPERATORS),
    "memories/<int:memory_id>/keep/": page(Act.MEMORY_WRITE, post=ONLY_ANA),
    "memories/<int:memory_id>/hard-constraint/": page(Act.PREFERENCE_PROPOSE, post=ONLY_ANA),
    "onboarding/": page(Act.PROFILE_READ, get=OWNERS),
    "onboarding/finish/": page(Act.PROFILE_WRITE, post=OWNERS),
    "onboarding/undo/": page(Act.PROFILE_WRITE, post=NO_OWNER),  # nobody here has finished
    "onboarding/<str:question>/": page(Act.PROFILE_WRITE, get=OWNERS, post=OWNERS),
    "onboarding/<str:question>/preview/": page(Act.PROFILE_WRITE, post=OWNERS),
    "profile/": page(Act.PROFILE_READ, get=OWNERS),
    "profile/prompt/": page(Act.PROFILE_WRITE, post=OWNERS),
    "profile/prompt/warn/": page(Act.PROFILE_WRITE, post=OWNERS),
    "profile/prompt/draft/": page(Act.PROFILE_WRITE, post=OWNERS),
    "profile/prompt/versions/": page(Act.PROFILE_READ, get=WITH_TAGS),  # olga has no custom prompt
    "profile/prompt/versions/<int:number>/restore/": page(Act.PROFILE_WRITE, post=WITH_TAGS),
    "profile/settings/": page(Act.PROFILE_WRITE, post=OWNERS),
    "profile/wallets/add/": page(Act.PROFILE_WRITE, post=OWNERS),
    "profile/wallets/undo/": page(Act.PROFILE_WRITE, post=NO_OWNER),  # nobody here has changed anything
    "profile/wallets/<str:address>/label/": page(Act.PROFILE_WRITE, post=WITH_TAGS),
    "profile/wallets/<str:address>/remove/": page(Act.PROFILE_WRITE, post=WITH_TAGS),
    "profile/activity/": page(Act.PROFILE_READ, get=OWNERS),
    "profile/activity/add/": page(Act.PROFILE_WRITE, post=OWNERS),
    "profile/activity/sync/": page(Act.PROFILE_WRITE, post=OWNERS),
    "profile/activity/<int:account_id>/remove/": page(Act.PROFILE_WRITE, post=ONLY_ANA),
    "profile/activity/<int:account_id>/restore/": page(Act.PROFILE_WRITE, post=ONLY_ANA),
    "profile/refresh/": page(Act.PROFILE_WRITE, post=OWNERS),
    "profile/preferences/": page(Act.PREFERENCES_READ, get=OWNERS),
    "profile/preferences/new/": page(Act.PREFERENCE_PROPOSE, get=OWNERS, post=OWNERS),
    "profile/preferences/count/": page(Act.PREFERENCE_PROPOSE, post=OWNERS),
    "profile/preferences/bulk/": page(Act.PREFERENCE_DECIDE, post=ANA_AND_OPERATORS),
    "profile/preferences/<int:preference_id>/": page(Act.PREFERENCES_READ, get=ANA_AND_OPERATORS),
    "profile/preferences/<int:preference_id>/approve/": page(
        Act.PREFERENCE_DECIDE, get=ANA_AND_OPERATORS, post=ANA_AND_OPERATORS
    ),
    "profile/preferences/<int:preference_id>/reject/": page(Act.PREFERENCE_DECIDE, post=ANA_AND_OPERATORS),
    "profile/preferences/<int:preference_id>/archive/": page(Act.PREFERENCE_DECIDE, post=ANA_AND_OPERATORS),
    "profile/preferences/<int:preference_id>/activate/": page(Act.PREFERENCE_ACTIVATE, get=ONLY_ANA, post=ONLY_ANA),
    "profile/preferences/<int:preference_id>/archive-constraint/": page(
        Act.PREFERENCE_ACTIVATE, get=ONLY_ANA, post=ONLY_ANA
    ),
    "profile/changes/": page(Act.PROFILE_READ, get=OWNERS),
    "profile/tags/": page(Act.PROFILE_READ, get=OWNERS),
    "profile/tags/undo/<int:tag_event_id>/": page(Act.PROFILE_WRITE, post=ONLY_ANA),
    "profile/tags/<str:tag_name>/declare/": page(Act.PROFILE_WRITE, post=OWNERS),
    "profile/tags/<str:tag_name>/clear/": page(Act.PROFILE_WRITE, post=WITH_TAGS),
    "profile/tags/<str:tag_name>/confirm/": page(Act.PROFILE_WRITE, post=WITH_TAGS),
    "facts/": page(Act.FACTS_READ, get=OWNERS),
    "facts/conflicts/": page(Act.FACTS_READ, get=OWNERS),
    "facts/conflicts/<int:conflict_id>/<str:kind>/": page(Act.FACTS_CHANGE, post=ANA_AND_OPERATORS),
    "facts/events/": page(Act.FACTS_READ, get=OWNERS),
    "facts/events/<int:event_id>/undo/": page(Act.FACTS_CHANGE, post=ANA_AND_OPERATORS),
    "facts/events/<int:event_id>/override/<str:kind>/": page(Act.FACTS_CHANGE, post=ANA_AND_OPERATORS),
    "roles/": page(Act.ROLES_READ, get=OWNERS),
    "roles/<str:role_id>/": page(Act.ROLES_READ, get=OWNERS),
    "roles/<str:role_id>/reflect/": page(Act.ROLES_REFLECT_ALL, post=OPERATORS),
    "role-memory/": page(Act.ROLE_MEMORY_READ, get=OWNERS),
    "role-memory/outcomes/": page(Act.ROLE_MEMORY_READ, get=OWNERS),
    "role-memory/outcomes/<int:entry_id>/": page(Act.ROLE_MEMORY_READ, get=ANA_AND_OPERATORS),
    "role-memory/<int:entry_id>/": page(Act.ROLE_MEMORY_READ, get=ANA_AND_OPERATORS),
    "role-memory/<int:entry_id>/outcome/": page(Act.ROLE_OUTCOME, post=ANA_AND_OPERATORS),
    "role-memory/<int:entry_id>/outcome/undo/": page(Act.ROLE_OUTCOME, post=ANA_AND_OPERATORS),
    "inbox/": page(Act.INBOX_READ, get=OPERATORS),
    "inbox/<int:alert_id>/close/": page(Act.INBOX_CLOSE, post=OPERATORS),
    "inbox/<int:alert_id>/reopen/": page(Act.INBOX_CLOSE, post=OPERATORS),
    "audit/": page(Act.AUDIT_READ, get=OPERATORS),
    "audit/run/": page(Act.AUDIT_RUN, post=OPERATORS),
    "audit/passes/": page(Act.AUDIT_READ, get=OPERATORS),
    "audit/findings/": page(Act.AUDIT_READ, get=OPERATORS),
    "audit/findings/acknowledge/": page(Act.FINDING_ACKNOWLEDGE, post=OPERATORS),
    "audit/findings/reopen/<int:acknowledgement_id>/": page(Act.FINDING_ACKNOWLEDGE, post=OPERATORS),
    "audit/findings/restore/<int:acknowledgement_id>/": page(Act.FINDING_ACKNOWLEDGE, post=OPERATORS),
    "audit/<int:report_id>/": page(Act.AUDIT_READ, get=OPERATORS),
    "audit/<int:report_id>/export.json": page(Act.AUDIT_READ, get=OPERATORS),
    "audit/<int:report_id>/<str:code>/": page(Act.AUDIT_READ, get=OPERATORS),
    "undo/<int:change_set_id>/": page(Act.UNDO, get=ANA_AND_OPERATORS, post=ANA_AND_OPERATORS),
    "learnings/": page(Act.LEARNINGS_READ, get=OWNERS),
    "learnings/try/": page(Act.LEARNINGS_READ, get=OWNERS),
    "learnings/bulk/": page(Act.LEARNING_REMOVE, post=ANA_AND_OPERATORS),
    "learnings/<str:learning_uid>/": page(Act.LEARNINGS_READ, get=ANA_AND_OPERATORS),
    "learnings/<str:learning_uid>/edit/": page(Act.LEARNING_WRITE, post=ONLY_ANA),
    "learnings/<str:learning_uid>/delete/": page(Act.LEARNING_REMOVE, post=ANA_AND_OPERATORS),
    "learnings/<str:learning_uid>/restore/": page(Act.LEARNING_REMOVE, post=NO_OWNER),  # nobody here has deleted one
    "methodologies/": page(Act.METHODOLOGIES_READ, get=OWNERS),
    "methodologies/bulk/": page(Act.METHODOLOGY_DECIDE, post=OPERATORS),
    "methodologies/<str:uid>/": page(Act.METHODOLOGIES_READ, get=OWNERS),
    "methodologies/<str:uid>/quarantine/": page(Act.METHODOLOGY_DECIDE, post=OPERATORS),
    "methodologies/<str:uid>/release/": page(Act.METHODOLOGY_DECIDE, post=OPERATORS),
    "methodologies/<str:uid>/read/": page(Act.METHODOLOGY_DECIDE, post=OPERATORS),
    "methodologies/<str:uid>/unread/": page(Act.METHODOLOGY_DECIDE, post=OPERATORS),
    "institution/": page(Act.INSTITUTION_READ, get=PEOPLE),
    "institution/new/": page(Act.INSTITUTION_RUN, get=OWNERS, post=OWNERS),
    "institution/<str:institution_uid>/": page(Act.INSTITUTION_READ, get=ANA_AND_STAFF),
    "institution/<str:institution_uid>/progress/": page(Act.INSTITUTION_READ, get=PEOPLE),
    "institution/<str:institution_uid>/cancel/": page(Act.INSTITUTION_CANCEL, post=ANA_AND_OPERATORS),
    "ledger/deployments/<str:deployment_id>/": page(Act.DEPLOYMENT_READ, get=ANA_AND_OPERATORS, post=ONLY_ANA),
    "ledger/ticks/<int:snapshot_id>/": page(Act.DEPLOYMENT_READ, get=ANA_AND_OPERATORS),
    "lessons/": page(Act.LESSONS_READ, get=OWNERS),
    "lessons/<str:content_hash>/": page(Act.LESSONS_READ, get=ANA_AND_OPERATORS),
    "trading-cases/": page(Act.CASES_READ, get=PEOPLE),
    "trading-cases/find/": page(Act.CASES_READ, get=PEOPLE),
    "trading-cases/<int:case_id>/": page(Act.CASES_READ, get=ANA_AND_STAFF),
    "trading-cases/<int:case_id>/reveal/": page(Act.CASE_REVEAL, post=SUPPORT),
    "trading-cases/<int:case_id>/reveal/end/": page(Act.CASE_REVEAL, post=SUPPORT),
    "ledger/": page(Act.LEDGER_READ, get=PEOPLE),
    "ledger/trades/<str:trade_uid>/": page(Act.LEDGER_READ, get=ANA_AND_STAFF),
    "ledger/trades/<str:trade_uid>/reveal/": page(Act.TRADE_REVEAL, post=SUPPORT),
    "ledger/trades/<str:trade_uid>/reveal/end/": page(Act.TRADE_REVEAL, post=SUPPORT),
    "ledger/trades/<str:trade_uid>/note/": page(Act.NOTE_WRITE, post=ONLY_ANA),
    "ledger/trips/<int:trip_id>/note/": page(Act.NOTE_WRITE, post=ONLY_ANA),
    "trading-cases/<int:case_id>/note/": page(Act.NOTE_WRITE, post=ONLY_ANA),
    "ledger/trips/<int:trip_id>/": page(Act.LEDGER_READ, get=ANA_AND_STAFF),
    "ledger/trips/<int:trip_id>/reveal/": page(Act.TRADE_REVEAL, post=SUPPORT),
    "ledger/trips/<int:trip_id>/reveal/end/": page(Act.TRADE_REVEAL, post=SUPPORT),
    "ledger/<slug:trade_source>/<str:ledger_key>/": page(Act.LEDGER_READ, get=ANA_AND_STAFF),
    "ledger/<slug:trade_source>/<str:ledger_key>/trades/": page(Act.LEDGER_READ, get=ANA_AND_STAFF),
    "search/": page(Act.SEARCH, get=OWNERS),
    "memories/brought-in/": page(Act.MEMORY_READ, get=OWNERS),
    "memories/brought-in/<int:brought_in_id>/": page(Act.MEMORY_READ, get=ONLY_ANA),
    "memories/brought-in/<int:brought_in_id>/seen/": page(Act.IMPORT_ROLL_BACK, post=ONLY_ANA),
    "memories/brought-in/<int:brought_in_id>/roll-back/": page(Act.IMPORT_ROLL_BACK, get=ONLY_ANA, post=ONLY_ANA),
    "memories/brought-in/<int:brought_in_id>/undo/": page(Act.IMPORT_ROLL_BACK, post=ONLY_ANA),
    "memories/search-lab/": page(Act.SEARCH, get=OWNERS),
    "assets/": page(Act.COMPILED_READ, get=OWNERS),
    "memories/graph/": page(Act.GRAPH_READ, get=OWNERS),
    "assets/<path:asset>/": page(Act.COMPILED_READ, get=OWNERS),
    "user-profile/": page(Act.USER_PROFILE_READ, get=OWNERS),
    "user-profile/warn/": page(Act.USER_PROFILE_WRITE, post=OWNERS),
    "user-profile/add/": page(Act.USER_PROFILE_WRITE, post=OWNERS),
    "user-profile/undo/": page(Act.USER_PROFILE_WRITE, post=NO_OWNER),  # nobody here has removed anything
    "user-profile/<str:key>/edit/": page(Act.USER_PROFILE_WRITE, get=ONLY_ANA, post=ONLY_ANA),
    "user-profile/<str:key>/remove/": page(Act.USER_PROFILE_WRITE, post=ONLY_ANA),
    "conversations/<str:session_id>/": page(Act.PROMPT_READ, get=ANA_AND_OPERATORS),
    "prompt/": page(Act.PROMPT_READ, get=OWNERS),
    "workspace/": page(Act.WORKSPACE_READ, get=OWNERS),
    "workspace/note/": page(Act.WORKSPACE_WRITE, get=OWNERS),
    "workspace/default-files/": page(Act.IDENTITY_WRITE, post=OWNERS),
    "workspace/default-files/undo/": page(Act.IDENTITY_WRITE, post=NO_OWNER),  # nobody here has made any
    "workspace/MEMORY.md/additions/": page(Act.WORKSPACE_WRITE, get=OWNERS, post=OWNERS),
    "workspace/<path:file_name>/": page(Act.WORKSPACE_READ, get=OWNERS),
    "workspace/<path:file_name>/save/": page(Act.WORKSPACE_WRITE, post=OWNERS),
    "workspace/<path:file_name>/warn/": page(Act.WORKSPACE_WRITE, post=OWNERS),
    "workspace/<path:file_name>/draft/": page(Act.WORKSPACE_WRITE, post=OWNERS),
    "workspace/<path:file_name>/edit/": page(Act.IDENTITY_WRITE, get=OWNERS),
    "workspace/<path:file_name>/versions/<int:file_version>/restore/": page(Act.WORKSPACE_WRITE, post=WITH_TAGS),
    "prompt/text": page(Act.PROMPT_READ, get=OWNERS),
}

TYPED = by_key(Scope.MEMORY_WRITE, object_of_ana=True, typed=True)

EDITED = by_key(Scope.LEARNING_WRITE, object_of_ana=True, typed=True)
DECIDES_ON_ANAS = by_key(Scope.LEARNING_WRITE, object_of_ana=True, typed=True)
OPERATORS_BY_KEY = {**by_key(Scope.OPERATOR), "ana": REFUSED, "ben": REFUSED}
OPERATIONS: dict[str, tuple[Act, Audience]] = {
    "GET /v1/memory": (Act.MEMORY_READ, by_key(Scope.MEMORY_READ)),
    "POST /v1/memory": (Act.MEMORY_WRITE, by_key(Scope.MEMORY_WRITE)),
    "POST /v1/memory/bulk": (Act.MEMORY_REMOVE, TYPED),
    "GET /v1/memory/search": (Act.SEARCH, by_key(Scope.MEMORY_READ)),
    "GET /v1/memory/{int:memory_id}": (Act.MEMORY_READ, by_key(Scope.MEMORY_READ, object_of_ana=True)),
    "PATCH /v1/memory/{int:memory_id}": (Act.MEMORY_WRITE, by_key(Scope.MEMORY_WRITE, object_of_ana=True)),
    "DELETE /v1/memory/{int:memory_id}": (Act.MEMORY_REMOVE, by_key(Scope.MEMORY_WRITE, object_of_ana=True)),
    "POST /v1/memory/{int:memory_id}/restore": (Act.MEMORY_REMOVE, TYPED),
    "GET /v1/memory/{int:memory_id}/history": (Act.MEMORY_READ, by_key(Scope.MEMORY_READ, object_of_ana=True)),
    "GET /v1/memory/{int:memory_id}/why": (Act.MEMORY_READ, by_key(Scope.MEMORY_READ, object_of_ana=True)),
    "GET /v1/facts": (Act.FACTS_READ, by_key(Scope.MEMORY_READ)),
    "GET /v1/facts/events": (Act.FACTS_READ, by_key(Scope.MEMORY_READ)),
    "GET /v1/roles": (Act.ROLES_READ, by_key(Scope.LEARNING_READ)),
    "GET /v1/roles/{role_id}/lessons": (Act.ROLES_READ, by_key(Scope.LEARNING_READ)),
    "POST /v1/roles/{role_id}/reflect": (Act.ROLES_REFLECT, by_key(Scope.LEARNING_WRITE)),
    "GET /v1/role-memory": (Act.ROLE_MEMORY_READ, by_key(Scope.LEARNING_READ)),
    "POST /v1/role-memory": (Act.ROLE_MEMORY_WRITE, by_key(Scope.LEARNING_WRITE)),
    "GET /v1/role-memory/{int:entry_id}": (Act.ROLE_MEMORY_READ, by_key(Scope.LEARNING_READ, object_of_ana=True)),
    "POST /v1/role-memory/{int:entry_id}/outcome": (Act.ROLE_OUTCOME, by_key(Scope.LEARNING_WRITE, object_of_ana=True)),
    "GET /v1/learnings": (Act.LEARNINGS_READ, by_key(Scope.LEARNING_READ)),
    "POST /v1/learnings": (Act.LEARNING_WRITE, by_key(Scope.LEARNING_WRITE)),
    "PATCH /v1/learnings/{learning_uid}": (Act.LEARNING_WRITE, EDITED),
    "DELETE /v1/learnings/{learning_uid}": (Act.LEARNING_REMOVE, EDITED),
    "GET /v1/methodologies": (Act.METHODOLOGIES_READ, by_key(Scope.LEARNING_READ)),
    "GET /v1/methodologies/{uid}": (Act.METHODOLOGIES_READ, by_key(Scope.LEARNING_READ)),
    "POST /v1/methodologies": (Act.METHODOLOGY_WRITE, by_key(Scope.LEARNING_WRITE)),
    "POST /v1/methodologies/{uid}/outcomes": (Act.METHODOLOGY_DECIDE, OPERATORS_BY_KEY),
    "POST /v1/methodologies/{uid}/quarantine": (Act.METHODOLOGY_DECIDE, OPERATORS_BY_KEY),
    "POST /v1/methodologies/{uid}/release": (Act.METHODOLOGY_DECIDE, OPERATORS_BY_KEY),
    "GET /v1/preferences": (Act.PREFERENCES_READ, by_key(Scope.LEARNING_READ)),
    "POST /v1/preferences": (Act.PREFERENCE_PROPOSE, by_key(Scope.LEARNING_WRITE)),
    "POST /v1/preferences/{int:preference_id}/approve": (Act.PREFERENCE_DECIDE, DECIDES_ON_ANAS),
    "POST /v1/preferences/{int:preference_id}/reject": (Act.PREFERENCE_DECIDE, DECIDES_ON_ANAS),
    "POST /v1/preferences/{int:preference_id}/archive": (
        Act.PREFERENCE_DECIDE,
        by_key(Scope.LEARNING_WRITE, object_of_ana=True),
    ),
    "GET /v1/institution/runs": (Act.INSTITUTION_QUERY, by_key(Scope.LEARNING_READ)),
    "POST /v1/institution/runs": (Act.INSTITUTION_RUN, by_key(Scope.LEARNING_WRITE)),
    "GET /v1/institution/runs/{institution_uid}": (
        Act.INSTITUTION_QUERY,
        by_key(Scope.LEARNING_READ, object_of_ana=True),
    ),
    "GET /v1/trades": (Act.TRADES_READ, by_key(Scope.TRADING_READ)),
    "POST /v1/trades": (Act.TRADE_WRITE, by_key(Scope.TRADING_WRITE)),
    "GET /v1/deployments": (Act.TRADES_READ, by_key(Scope.TRADING_READ)),
    "POST /v1/deployments": (Act.TRADE_WRITE, by_key(Scope.TRADING_WRITE)),
    "POST /v1/deployments/{deployment_id}/ticks": (Act.TRADE_WRITE, by_key(Scope.TRADING_WRITE, object_of_ana=True)),
    **{
        f"GET /v1/deployments/{{deployment_id}}{part}": (
            Act.TRADES_READ,
            by_key(Scope.TRADING_READ, object_of_ana=True),
        )
        for part in ("", "/context", "/trades", "/open", "/lessons", "/risk-state")
    },
    "POST /v1/strategy-runs": (Act.TRADE_WRITE, by_key(Scope.TRADING_WRITE)),
    "POST /v1/strategy-runs/{int:strategy_run_id}/stop": (
        Act.TRADE_WRITE,
        by_key(Scope.TRADING_WRITE, object_of_ana=True),
    ),
    "POST /v1/strategy-runs/reconcile": (Act.TRADE_WRITE, by_key(Scope.TRADING_WRITE)),
    "GET /v1/trading-cases": (Act.CASES_QUERY, by_key(Scope.LEARNING_READ)),
    "POST /v1/trading-cases": (Act.CASE_WRITE, by_key(Scope.LEARNING_WRITE)),
    "GET /v1/trading-cases/{int:case_id}": (Act.CASES_QUERY, by_key(Scope.LEARNING_READ, object_of_ana=True)),
    "POST /v1/audit/run": (Act.AUDIT_RUN, OPERATORS_BY_KEY),
    "GET /v1/audit/reports": (Act.AUDIT_READ, OPERATORS_BY_KEY),
    "GET /v1/audit/reports/latest": (Act.AUDIT_READ, OPERATORS_BY_KEY),
    "GET /v1/audit/reports/{int:report_id}": (Act.AUDIT_READ, OPERATORS_BY_KEY),
    "GET /v1/audit/trend": (Act.AUDIT_READ, OPERATORS_BY_KEY),
    "GET /v1/audit/findings": (Act.AUDIT_READ, OPERATORS_BY_KEY),
    "GET /v1/budget": (Act.BUDGET_READ, OPERATORS_BY_KEY),
    "POST /v1/prices": (Act.PRICES_WRITE, by_key(Scope.TRADING_WRITE)),
    "GET /v1/symbols": (Act.SYMBOLS_READ, by_key(None)),
    "GET /v1/tools": (Act.TOOLS, by_key(None)),
    "POST /v1/tools/{name}": (Act.TOOLS, by_key(Scope.MEMORY_READ)),  # the tool memory_read; all of them below
    "GET /v1/edges": (Act.GRAPH_READ, by_key(Scope.MEMORY_READ)),
    "GET /v1/entities/top": (Act.GRAPH_READ, by_key(Scope.MEMORY_READ)),
    "GET /v1/compiled/{path:asset}": (Act.COMPILED_READ, by_key(Scope.MEMORY_READ)),
    "GET /v1/user-profile": (Act.USER_PROFILE_READ, by_key(Scope.MEMORY_READ)),
    "PUT /v1/user-profile/{key}": (Act.USER_PROFILE_WRITE, {**TYPED, "ben": OPEN, "olga": OPEN, "key_operator": OPEN}),
    "DELETE /v1/user-profile/{key}": (Act.USER_PROFILE_WRITE, TYPED),
    "GET /v1/profile": (Act.PROFILE_READ, by_key(Scope.PROFILE_READ)),
    "PUT /v1/profile/settings": (Act.PROFILE_WRITE, by_key(Scope.PROFILE_WRITE)),
    "PUT /v1/profile/prompt": (Act.PROFILE_WRITE, by_key(Scope.PROFILE_WRITE)),
    "DELETE /v1/profile/prompt": (Act.PROFILE_WRITE, by_key(Scope.PROFILE_WRITE)),
    "PUT /v1/profile/reference-wallets": (Act.PROFILE_WRITE, by_key(Scope.PROFILE_WRITE)),
    "GET /v1/profile/accounts": (Act.PROFILE_READ, by_key(Scope.PROFILE_READ)),
    "POST /v1/profile/accounts": (Act.PROFILE_WRITE, by_key(Scope.PROFILE_WRITE)),
    "DELETE /v1/profile/accounts/{int:account_id}": (
        Act.PROFILE_WRITE,
        by_key(Scope.PROFILE_WRITE, object_of_ana=True, typed=True),
    ),
    "POST /v1/profile/refresh": (Act.PROFILE_WRITE, by_key(Scope.PROFILE_WRITE)),
    "GET /v1/profile/onboarding": (Act.PROFILE_READ, by_key(Scope.PROFILE_READ)),
    "POST /v1/profile/onboarding": (Act.PROFILE_WRITE, by_key(Scope.PROFILE_WRITE)),
    "PUT /v1/profile/tags/{tag_name}": (Act.PROFILE_WRITE, by_key(Scope.PROFILE_WRITE)),
    "DELETE /v1/profile/tags/{tag_name}": (
        Act.PROFILE_WRITE,
        {**by_key(Scope.PROFILE_WRITE), "olga": MISSING, "key_operator": MISSING},  # who has no tag
    ),
    "GET /v1/workspace": (Act.WORKSPACE_READ, by_key(Scope.PROFILE_READ)),
    "GET /v1/workspace/{path:file_name}": (
        Act.WORKSPACE_READ,
        {**by_key(Scope.PROFILE_READ), "olga": MISSING, "key_operator": MISSING},  # who has no file
    ),
    "PUT /v1/workspace/{path:file_name}": (Act.WORKSPACE_WRITE, by_key(Scope.PROFILE_WRITE)),
    "GET /v1/sessions": (Act.PROMPT_READ, by_key(Scope.MEMORY_READ)),
    "POST /v1/sessions": (Act.PROMPT_READ, by_key(Scope.MEMORY_READ)),
    "GET /v1/sessions/{session_id}/prompt": (Act.PROMPT_READ, by_key(Scope.MEMORY_READ, object_of_ana=True)),
    "GET /v1/sessions/{session_id}/suggestions": (
        Act.SUGGESTIONS_READ,
        by_key(Scope.LEARNING_READ, object_of_ana=True),
    ),
    "POST /v1/sessions/{session_id}/turns": (Act.TURN_WRITE, by_key(Scope.LEARNING_WRITE, object_of_ana=True)),
    "POST /v1/sessions/{session_id}/end": (Act.PROMPT_READ, by_key(Scope.MEMORY_READ, object_of_ana=True)),
}

TOOLS: dict[str, tuple[Act, Audience]] = {
    "memory_write": (Act.MEMORY_WRITE, by_key(Scope.MEMORY_WRITE)),
    "memory_search": (Act.SEARCH, by_key(Scope.MEMORY_READ)),
    "memory_read": (Act.MEMORY_READ, by_key(Scope.MEMORY_READ)),
    "memory_retract": (Act.MEMORY_REMOVE, by_key(Scope.MEMORY_WRITE)),
    "memory_correct": (Act.MEMORY_WRITE, by_key(Scope.MEMORY_WRITE)),
    "memory_compiled_page": (Act.COMPILED_READ, by_key(Scope.MEMORY_READ)),
    "record_decision": (Act.ROLE_MEMORY_WRITE, by_key(Scope.LEARNING_WRITE)),
    "memory_learn": (Act.LEARNING_WRITE, by_key(Scope.LEARNING_WRITE)),
    "query_trade_history": (Act.TRADES_READ, by_key(Scope.TRADING_READ)),
    "search_user_trades": (Act.TRADES_READ, by_key(Scope.TRADING_READ)),
    "record_trade": (Act.TRADE_WRITE, by_key(Scope.TRADING_WRITE)),
    "record_case": (Act.CASE_WRITE, by_key(Scope.LEARNING_WRITE)),
    "personalization_snapshot": (Act.PROFILE_READ, by_key(Scope.PROFILE_READ)),
    "search_conversation_memory": (Act.MEMORY_READ, by_key(Scope.MEMORY_READ)),
}
