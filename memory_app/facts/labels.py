"""Facts, decisions and refusals in words."""

from django.utils.translation import gettext_lazy as _, pgettext_lazy

from memory_app.facts.core import EventKind
from memory_app.facts.core.decision import CORRECTED, HELD_AGAIN, UNSURE, DecisionKind, Problem
from memory_app.facts.core.judging import HELD_BY_GUARD, JUDGED
from memory_app.memories.core import FactState
from minara_site.web.filters import Text

STATES: dict[FactState, Text] = {
    FactState.PENDING: pgettext_lazy("fact", "Pending"),
    FactState.SETTLED: _("Settled"),
    FactState.RETIRED: _("Retired"),
}
EVENTS: dict[EventKind, Text] = {
    EventKind.SETTLED: _("Settled"),
    EventKind.DEDUPLICATED: _("Retired as a repetition"),
    EventKind.CONFLICT_FOUND: _("Contradiction found"),
    EventKind.SUPERSEDED: _("Retired, replaced"),
    EventKind.KEPT_BOTH: _("Both kept"),
    EventKind.UNRETIRED: _("Used again"),
    EventKind.REOPENED: _("Contradiction opened again"),
    EventKind.REFUSED: _("Decision refused"),
}
REPEATED = _("Written again by its writer")
PROBLEMS: dict[Problem, Text] = {
    Problem.UNKNOWN_KIND: _("No such decision is known."),
    Problem.OUTSIDE_THE_PAIR: _("The decision names a fact outside this pair."),
    Problem.PROTECTED: _("What a user typed is never retired."),
    Problem.NOT_SETTLED: _("One of the two is not a settled fact, or is not read any more."),
    Problem.DECIDED: _("This pair was decided meanwhile."),
    Problem.LIMIT: _("Only its owner allows what a limit forbids."),
}
REASONS: dict[str, Text] = {
    CORRECTED: _("Corrected by the owner"),
    HELD_AGAIN: _("What corrected it is held again"),
    JUDGED: "",  # the verdict says it, as long as its facts are there
    HELD_BY_GUARD: _("The guard holds what the model wrote: it carries instructions or secrets."),
    **{each.value: words for each, words in PROBLEMS.items()},
}
VERDICTS: dict[str, Text] = {
    DecisionKind.SUPERSEDE.value: _("the newer replaces the older"),
    DecisionKind.KEEP_OLDER.value: _("the older stays"),
    DecisionKind.KEEP_BOTH.value: _("both stay"),
    UNSURE: _("cannot tell"),
}
DONE: dict[DecisionKind, Text] = {
    DecisionKind.SUPERSEDE: _("The newer fact replaces the older one."),
    DecisionKind.KEEP_OLDER: _("The older fact stays, the newer one is retired."),
    DecisionKind.KEEP_BOTH: _("Both stay."),
}


def reason_label(reason: str) -> str:
    """Return why something was decided; what a model or a person wrote as it is."""
    return str(REASONS.get(reason, reason))
