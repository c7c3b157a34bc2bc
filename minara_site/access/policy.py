"""The one permission table, read by pages, HTTP API, tools and the tests (ASVS 5.0, 8.2 and 8.3).

A page or an operation names one `Act`. The table says which roles may do it in the browser, which scope a key
needs, and whether operators may do it to other owners' rows. Nothing else in the project decides permissions.
"""

from dataclasses import dataclass
from enum import StrEnum


class Role(StrEnum):
    """What a person is. The groups `operators` and `support` decide; everybody else who signs in is a user."""

    ANONYMOUS = "anonymous"
    USER = "user"
    SUPPORT = "support"
    OPERATOR = "operator"


class Scope(StrEnum):
    """What an API key may be allowed to do."""

    MEMORY_READ = "memory:read"
    MEMORY_WRITE = "memory:write"
    PROFILE_READ = "profile:read"
    PROFILE_WRITE = "profile:write"
    LEARNING_READ = "learning:read"
    LEARNING_WRITE = "learning:write"
    TRADING_READ = "trading:read"
    TRADING_WRITE = "trading:write"
    OPERATOR = "operator"


AGENT_SCOPES = frozenset(Scope) - {Scope.OPERATOR}


class Act(StrEnum):
    """Something that a caller can do."""

    SIGN_IN = "sign_in"
    CLAIM_SETUP = "claim_setup"
    SIGN_OUT = "sign_out"
    PROBE = "probe"
    API_DOCS = "api_docs"
    HOME = "home"
    UNDO = "undo"
    OWN_SETTINGS = "own_settings"
    KEYS = "keys"
    KEY_CREATE = "key_create"
    MEMORY_READ = "memory_read"
    MEMORY_WRITE = "memory_write"
    MEMORY_REMOVE = "memory_remove"
    USER_PROFILE_READ = "user_profile_read"
    USER_PROFILE_WRITE = "user_profile_write"
    SEARCH = "search"
    PROMPT_READ = "prompt_read"
    PROFILE_READ = "profile_read"
    PROFILE_WRITE = "profile_write"
    WORKSPACE_READ = "workspace_read"
    WORKSPACE_WRITE = "workspace_write"
    IDENTITY_WRITE = "identity_write"
    DOCUMENT_RELEASE = "document_release"
    TURN_WRITE = "turn_write"
    TOOLS = "tools"
    DEMO = "demo"
    SECURITY = "security"
    SECURITY_CHANGE = "security_change"
    ACCEPT_INVITATION = "accept_invitation"
    HOLDS_READ = "holds_read"
    HOLD_DISCARD = "hold_discard"
    REVIEW = "review"
    REVIEW_OWN = "review_own"
    INBOX_READ = "inbox_read"
    INBOX_CLOSE = "inbox_close"
    HOLD_RELEASE = "hold_release"
    SCAN_RULES = "scan_rules"
    WRITES_READ = "writes_read"
    WRITES_ROLL_BACK = "writes_roll_back"
    JOBS_READ = "jobs_read"
    JOBS_RUN = "jobs_run"
    AUDIT_LOG = "audit_log"
    ACCESS_LOG = "access_log"
    STATUS = "status"
    METRICS = "metrics"
    EFFECTIVE_SETTINGS = "effective_settings"
    USERS_READ = "users_read"
    USERS_CHANGE = "users_change"
    TABLES = "tables"
    FACTS_READ = "facts_read"
    FACTS_CHANGE = "facts_change"
    GRAPH_READ = "graph_read"
    COMPILED_READ = "compiled_read"
    EMBEDDINGS = "embeddings"
    DOCTOR = "doctor"
    DOCTOR_FIX = "doctor_fix"
    EXPORT = "export"
    EXPORT_CONSTRAINTS = "export_constraints"
    IMPORT_PREVIEW = "import_preview"
    IMPORT_APPLY = "import_apply"
    IMPORT_ROLL_BACK = "import_roll_back"
    ROLES_READ = "roles_read"
    ROLES_REFLECT = "roles_reflect"
    ROLES_REFLECT_ALL = "roles_reflect_all"
    ROLE_MEMORY_READ = "role_memory_read"
    ROLE_MEMORY_WRITE = "role_memory_write"
    ROLE_OUTCOME = "role_outcome"
    METHODOLOGIES_READ = "methodologies_read"
    METHODOLOGY_WRITE = "methodology_write"
    METHODOLOGY_DECIDE = "methodology_decide"
    SUGGESTIONS_READ = "suggestions_read"
    LEARNINGS_READ = "learnings_read"
    LEARNING_WRITE = "learning_write"
    LEARNING_REMOVE = "learning_remove"
    PREFERENCES_READ = "preferences_read"
    PREFERENCE_PROPOSE = "preference_propose"
    PREFERENCE_DECIDE = "preference_decide"
    PREFERENCE_ACTIVATE = "preference_activate"
    CASES_READ = "cases_read"
    CASES_QUERY = "cases_query"
    CASE_WRITE = "case_write"
    CASE_REVEAL = "case_reveal"
    TRADES_READ = "trades_read"
    LEDGER_READ = "ledger_read"
    TRADE_REVEAL = "trade_reveal"
    TRADE_WRITE = "trade_write"
    DEPLOYMENT_READ = "deployment_read"
    DEPLOYMENT_CHANGE = "deployment_change"
    LESSONS_READ = "lessons_read"
    NOTE_WRITE = "note_write"
    INTERNALS_READ = "internals_read"
    AUDIT_READ = "audit_read"
    AUDIT_RUN = "audit_run"
    FINDING_ACKNOWLEDGE = "finding_acknowledge"
    INSTITUTION_READ = "institution_read"
    INSTITUTION_QUERY = "institution_query"
    INSTITUTION_RUN = "institution_run"
    INSTITUTION_CANCEL = "institution_cancel"
    PRICES_WRITE = "prices_write"
    PRICES_REVIEW = "prices_review"
    SYMBOLS_READ = "symbols_read"
    BUDGET_READ = "budget_read"
    BUDGET_CHANGE = "budget_change"
    GOVERNANCE_READ = "governance_read"
    GOVERNANCE_CHANGE = "governance_change"


@dataclass(frozen=True)
class Rule:
    """Who may do an act.

    `roles` counts for the person, and for the person behind a key. `scope` is what a key needs; None means that no
    key can do it, unless `any_key`.
    `others` are the roles that may do it to rows of other owners: operators, and for some reads support staff.
    `fresh` asks for a sign-in of the last ten minutes, by password or passkey: the browser's form of an interactive
    terminal (decisions), which no key has.
    """

    roles: frozenset[Role]
    scope: Scope | None = None
    others: frozenset[Role] = frozenset()
    any_key: bool = False
    fresh: bool = False


ANYBODY = frozenset(Role)
SIGNED_IN = frozenset({Role.USER, Role.SUPPORT, Role.OPERATOR})
OWNERS = frozenset({Role.USER, Role.OPERATOR})  # support staff own no memories and see none
OPERATORS = frozenset({Role.OPERATOR})
STAFF = frozenset({Role.SUPPORT, Role.OPERATOR})


def owner_or_operator(scope: Scope | None = None) -> Rule:
    """Return the rule of what owners do to their own rows and operators to anybody's; `scope` is what a key needs."""
    return Rule(OWNERS, scope, others=OPERATORS)


POLICY: dict[Act, Rule] = {
    Act.SIGN_IN: Rule(ANYBODY),
    Act.CLAIM_SETUP: Rule(ANYBODY),
    Act.PROBE: Rule(ANYBODY),
    Act.API_DOCS: Rule(ANYBODY),
    Act.SIGN_OUT: Rule(SIGNED_IN),
    Act.HOME: Rule(SIGNED_IN),
    Act.UNDO: owner_or_operator(),  # and besides what `undone_by` of the act names
    Act.OWN_SETTINGS: Rule(SIGNED_IN),
    Act.KEYS: Rule(OWNERS),
    Act.KEY_CREATE: Rule(OWNERS, fresh=True),
    Act.MEMORY_READ: owner_or_operator(Scope.MEMORY_READ),
    Act.MEMORY_WRITE: Rule(OWNERS, Scope.MEMORY_WRITE),
    Act.MEMORY_REMOVE: owner_or_operator(Scope.MEMORY_WRITE),
    Act.USER_PROFILE_READ: owner_or_operator(Scope.MEMORY_READ),
    Act.USER_PROFILE_WRITE: Rule(OWNERS, Scope.MEMORY_WRITE),
    Act.SEARCH: owner_or_operator(Scope.MEMORY_READ),
    Act.PROMPT_READ: owner_or_operator(Scope.MEMORY_READ),
    Act.PROFILE_READ: owner_or_operator(Scope.PROFILE_READ),
    Act.PROFILE_WRITE: Rule(OWNERS, Scope.PROFILE_WRITE),
    Act.WORKSPACE_READ: owner_or_operator(Scope.PROFILE_READ),
    Act.WORKSPACE_WRITE: Rule(OWNERS, Scope.PROFILE_WRITE),
    Act.IDENTITY_WRITE: Rule(OWNERS, fresh=True),  # SOUL.md and AGENTS.md on their pages; what a key writes waits
    Act.DOCUMENT_RELEASE: Rule(OWNERS, fresh=True),  # a text that steers the agent: by its owner alone
    Act.TURN_WRITE: Rule(OWNERS, Scope.LEARNING_WRITE),
    Act.TOOLS: Rule(OWNERS, any_key=True),  # each tool asks for its own act besides
    Act.DEMO: Rule(OPERATORS),
    Act.SECURITY: Rule(SIGNED_IN),
    Act.SECURITY_CHANGE: Rule(SIGNED_IN, fresh=True),
    Act.ACCEPT_INVITATION: Rule(ANYBODY),
    Act.HOLDS_READ: owner_or_operator(Scope.MEMORY_READ),
    Act.HOLD_DISCARD: owner_or_operator(),
    Act.REVIEW: Rule(OPERATORS, others=OPERATORS),
    Act.REVIEW_OWN: Rule(OWNERS),
    Act.INBOX_READ: Rule(OPERATORS),
    Act.INBOX_CLOSE: Rule(OPERATORS),
    Act.HOLD_RELEASE: Rule(OPERATORS, others=OPERATORS),
    Act.SCAN_RULES: Rule(OPERATORS),
    Act.WRITES_READ: Rule(OPERATORS),
    Act.WRITES_ROLL_BACK: Rule(OPERATORS, fresh=True),
    Act.JOBS_READ: Rule(OPERATORS),
    Act.JOBS_RUN: Rule(OPERATORS),
    Act.AUDIT_LOG: Rule(OPERATORS),
    Act.ACCESS_LOG: Rule(OPERATORS),
    Act.STATUS: Rule(OPERATORS),
    Act.METRICS: Rule(OPERATORS, Scope.OPERATOR),
    Act.EFFECTIVE_SETTINGS: Rule(OPERATORS),
    Act.USERS_READ: Rule(OPERATORS),
    Act.USERS_CHANGE: Rule(OPERATORS, fresh=True),
    Act.TABLES: Rule(OPERATORS),
    Act.FACTS_READ: owner_or_operator(Scope.MEMORY_READ),
    Act.FACTS_CHANGE: owner_or_operator(),  # a person decides, in the browser
    Act.GRAPH_READ: owner_or_operator(Scope.MEMORY_READ),
    Act.COMPILED_READ: owner_or_operator(Scope.MEMORY_READ),
    Act.EMBEDDINGS: Rule(OPERATORS),
    Act.DOCTOR: Rule(OPERATORS),
    Act.DOCTOR_FIX: Rule(OPERATORS, fresh=True),
    Act.EXPORT: owner_or_operator(),
    Act.EXPORT_CONSTRAINTS: Rule(OWNERS, others=OPERATORS, fresh=True),
    Act.IMPORT_PREVIEW: owner_or_operator(),
    Act.IMPORT_APPLY: Rule(OWNERS, others=OPERATORS, fresh=True),
    Act.IMPORT_ROLL_BACK: Rule(OWNERS),  # what others brought in for them; operators roll back by WRITES_ROLL_BACK
    Act.ROLES_READ: owner_or_operator(Scope.LEARNING_READ),
    Act.ROLES_REFLECT: owner_or_operator(Scope.LEARNING_WRITE),  # of a user: their own entries
    Act.ROLES_REFLECT_ALL: Rule(OPERATORS, others=OPERATORS),
    Act.ROLE_MEMORY_READ: owner_or_operator(Scope.LEARNING_READ),
    Act.ROLE_MEMORY_WRITE: Rule(OWNERS, Scope.LEARNING_WRITE),
    Act.ROLE_OUTCOME: owner_or_operator(Scope.LEARNING_WRITE),
    Act.METHODOLOGIES_READ: Rule(OWNERS, Scope.LEARNING_READ),  # the instance's: there are no other owners
    Act.METHODOLOGY_WRITE: Rule(OWNERS, Scope.LEARNING_WRITE),
    Act.METHODOLOGY_DECIDE: Rule(OPERATORS, Scope.OPERATOR),  # outcomes, quarantine, release
    Act.SUGGESTIONS_READ: owner_or_operator(Scope.LEARNING_READ),
    Act.LEARNINGS_READ: owner_or_operator(Scope.LEARNING_READ),
    Act.LEARNING_WRITE: Rule(OWNERS, Scope.LEARNING_WRITE),
    Act.LEARNING_REMOVE: owner_or_operator(Scope.LEARNING_WRITE),
    Act.PREFERENCES_READ: owner_or_operator(Scope.LEARNING_READ),
    Act.PREFERENCE_PROPOSE: Rule(OWNERS, Scope.LEARNING_WRITE),
    Act.PREFERENCE_DECIDE: owner_or_operator(Scope.LEARNING_WRITE),  # of soft ones; and to reject any
    Act.PREFERENCE_ACTIVATE: Rule(OWNERS, fresh=True),  # hard constraints: by their owner alone, never with a key
    Act.CASES_READ: Rule(SIGNED_IN, others=STAFF),  # on pages, where support sees amounts masked
    Act.CASES_QUERY: owner_or_operator(Scope.LEARNING_READ),  # over HTTP, as agents read them
    Act.CASE_WRITE: Rule(OWNERS, Scope.LEARNING_WRITE),
    Act.CASE_REVEAL: Rule(frozenset({Role.SUPPORT}), others=STAFF),
    Act.LEDGER_READ: Rule(SIGNED_IN, others=STAFF),  # on pages, where support sees amounts masked
    Act.TRADE_REVEAL: Rule(frozenset({Role.SUPPORT}), others=STAFF),
    Act.TRADES_READ: owner_or_operator(Scope.TRADING_READ),
    Act.TRADE_WRITE: Rule(OWNERS, Scope.TRADING_WRITE),
    Act.DEPLOYMENT_READ: owner_or_operator(),  # on pages: skill, risk state, and what the agent saw at a tick
    Act.DEPLOYMENT_CHANGE: Rule(OWNERS),
    Act.LESSONS_READ: owner_or_operator(),  # on pages; agents read theirs in the context of a tick
    Act.NOTE_WRITE: Rule(OWNERS),
    Act.INTERNALS_READ: Rule(OPERATORS, others=OPERATORS),  # capital and strategy runs
    Act.AUDIT_READ: Rule(OPERATORS, Scope.OPERATOR),
    Act.AUDIT_RUN: Rule(OPERATORS, Scope.OPERATOR),
    Act.FINDING_ACKNOWLEDGE: Rule(OPERATORS),
    Act.INSTITUTION_READ: Rule(SIGNED_IN, others=STAFF),  # on pages
    Act.INSTITUTION_QUERY: owner_or_operator(Scope.LEARNING_READ),  # over HTTP
    Act.INSTITUTION_RUN: Rule(OWNERS, Scope.LEARNING_WRITE),
    Act.INSTITUTION_CANCEL: owner_or_operator(),
    Act.PRICES_WRITE: Rule(OWNERS, Scope.TRADING_WRITE),
    Act.PRICES_REVIEW: Rule(OPERATORS),
    Act.SYMBOLS_READ: Rule(OWNERS, any_key=True),
    Act.BUDGET_READ: Rule(OPERATORS, Scope.OPERATOR),
    Act.BUDGET_CHANGE: Rule(OPERATORS, fresh=True),
    Act.GOVERNANCE_READ: Rule(OPERATORS),
    Act.GOVERNANCE_CHANGE: Rule(OPERATORS, fresh=True),
}

ENROLMENT = frozenset({Act.SECURITY, Act.SECURITY_CHANGE, Act.SIGN_OUT})  # open to operators who must still enrol
SCOPES_IN_USE = frozenset({rule.scope for rule in POLICY.values() if rule.scope} | {Scope.OPERATOR})


def permits(act: Act, role: Role, scopes: frozenset[Scope] | None) -> bool:
    """Say whether this caller may do the act; `scopes` is None in the browser and a key's scopes elsewhere."""
    rule = POLICY[act]
    if role not in rule.roles:
        return False
    return scopes is None or (not rule.fresh and (rule.any_key or rule.scope in scopes))
