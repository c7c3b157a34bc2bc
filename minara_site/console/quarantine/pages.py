"""How the queue looks: its list, and one hold as its reader sees it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from typing import Any

from django.http import QueryDict
from django.urls import reverse
from django.utils.functional import SimpleLazyObject
from django.utils.translation import gettext_lazy as _

from memory_app.memories.core.destinations import Destination
from memory_app.memories.unconfirmed import find_unconfirmed
from minara_site.access.actors import name_actors
from minara_site.access.policy import POLICY, Act
from minara_site.access.principal import Principal
from minara_site.console.quarantine.selectors import load_texts
from minara_site.kernel.core.diff import Segment as Change, word_diff
from minara_site.kernel.core.excerpt import Segment, cut
from minara_site.kernel.core.hidden import HiddenChar, find_hidden
from minara_site.kernel.guard.core import Finding, Reason
from minara_site.kernel.guard.kinds import HeldText, StoredKind, stored_kinds
from minara_site.kernel.guard.labels import REASONS, SENTENCES, NamedRule, name_rules
from minara_site.kernel.guard.masking import mask, mask_secrets
from minara_site.kernel.guard.models import Decision, Hold
from minara_site.kernel.guard.selectors import list_holds
from minara_site.kernel.ownership import Owner
from minara_site.shell.lists import OwnedList
from minara_site.web.filters import Filter, FilterKind, Rows, Text
from minara_site.web.keyset import Order
from minara_site.web.labels import sentences
from minara_site.web.lists import BulkAction, Empty, ListSpec, Sort, by_time

ANY_REASON = "all"
LEAD_CHARS = 24
EXCERPT_CHARS = 160
DOUBTS: Mapping[Reason, Text] = {
    Reason.INJECTION: _("This text gives instructions to the agent."),
    Reason.SECRET: _("This text holds a secret."),
}
"""What is said once more before a text is released."""
ANYWAY = _("Release it anyway?")


def for_reason(rows: Any, reason: str) -> Any:
    """Keep the holds that wait, for one reason, or those that were decided so."""
    if reason in DECIDED:
        return rows.decided(Decision(reason))
    return rows.open() if reason == ANY_REASON else rows.open().filter(reason=reason)


def question_of(hold: Hold) -> str:
    """Return what the release of a text asks once more, empty for hidden characters alone."""
    doubts = [str(sentence) for reason, sentence in DOUBTS.items() if reason in hold.reasons]
    return reduce(sentences, [*doubts, str(ANYWAY)]) if doubts else ""


def owner_kinds() -> list[str]:
    """Return the kinds of texts that only their owner lets in."""
    return [kind.name for kind in stored_kinds().values() if not POLICY[Act(kind.release_act)].others]


DECIDED = {Decision.RELEASED.value: _("Released"), Decision.DISCARDED.value: _("Discarded")}
REASON = Filter(
    "reason",
    _("Reason"),
    FilterKind.TABS,
    choices=((ANY_REASON, _("Waiting")), *REASONS.items(), *DECIDED.items()),
    default=ANY_REASON,
    apply=for_reason,
)
DISCARD = BulkAction("discard", _("Discard"), icon="trash", key="r")
RELEASE = BulkAction(
    "release",
    _("Release"),
    icon="check",
    key="a",
    act=Act.HOLD_RELEASE,
)
HOLDS = ListSpec(
    name="held",
    caption=_("Held texts"),
    row="console/quarantine/_row.html",
    columns=(),
    sorts=(
        Sort("oldest", _("oldest first"), Order("held_at", descending=False)),
        Sort("newest", _("newest first"), Order("held_at")),
    ),
    filters=(REASON,),
    bulk=(DISCARD, RELEASE),
    has_actions=False,
    empty=Empty(
        "held",
        _("No held texts"),
        _("What looks like an order to the agent, a secret or hidden text waits here until a person decides."),
        action=_("Go to the memories"),
        url="memories:list",
    ),
)


def hold_tabs(owner: Owner) -> dict[str, Rows]:
    """Return the open holds behind each reason."""
    rows = list_holds(owner=owner)
    return {
        ANY_REASON: rows,
        **{reason: rows.filter(reason=reason) for reason in REASONS},
    }


HELD_LIST = OwnedList(
    spec=replace(HOLDS, bulk_url="held:bulk"),
    act=Act.HOLDS_READ,
    kind="holds",
    rows=lambda owner: Hold.objects.for_owner(owner).filter(owner__isnull=False),
    own=_("Held texts"),
    of=_("Held texts"),
    tabs=hold_tabs,
    begins_with_all=True,
)
DECIDED_LIST = replace(
    HELD_LIST,
    spec=replace(
        HOLDS,
        sorts=by_time("decided_at"),
        filters=(
            replace(
                REASON,
                label=_("Decision"),
                choices=tuple(DECIDED.items()),
                default=Decision.RELEASED,
            ),
        ),
        bulk=(),
        empty=Empty(
            "held",
            _("No decided texts"),
            _("What people released or discarded is listed here."),
        ),
    ),
    act=Act.REVIEW,
    rows=Hold.objects.for_owner,
    own=_("Decided texts"),
    of=_("Decided texts"),
    tabs=None,
)
"""What people decided on, the holds of the instance, which have no owner, too."""


def list_of(queue: str, params: QueryDict) -> OwnedList:
    """Return the list that an address asks for: of what waits, or of what was decided, the newest decision first."""
    found = QUEUES[queue]
    if params.get("reason") not in DECIDED:
        return found
    return replace(
        found,
        spec=replace(found.spec, sorts=by_time("decided_at"), bulk=()),
    )


QUEUES = {"held": HELD_LIST, "decided": DECIDED_LIST}  # by the namespace of their addresses


@dataclass(frozen=True)
class HoldView:
    """A hold as its reader sees it. `held` is None once its row says something else; `query` is that of its list.

    A secret of another owner is masked: an operator judges what kind it is, not its value (decisions, tenancy).
    """

    hold: Hold
    held: HeldText | None
    names: Mapping[str, str]
    is_own: bool
    may_undo: bool = False
    queue: str = "held"
    query: str = ""
    unconfirmed: tuple[Destination, ...] = ()

    @property
    def pk(self) -> int:
        return self.hold.pk

    @property
    def author(self) -> str:
        return self.names[self.hold.actor]

    @property
    def decider(self) -> str:
        return self.names[self.hold.decided_by]

    @property
    def undoer(self) -> str:
        return self.names[self.hold.undone_by]

    @property
    def kind(self) -> StoredKind:
        return stored_kinds()[self.hold.kind]

    @property
    def url(self) -> str:
        """Return the address of its own page, the filters of the list kept."""
        return reverse(f"{self.queue}:one", args=[self.pk]) + (f"?{self.query}" if self.query else "")

    @property
    def release_url(self) -> str:
        """Return where its release is posted; an answer that asks once more keeps the filters of the list."""
        return reverse("held:release", args=[self.pk]) + (f"?{self.query}" if self.query else "")

    @property
    def title(self) -> str:
        """Return what it is about."""
        return self.held.title if self.held else self.kind.title(self.hold.object_id)

    @property
    def row_url(self) -> str:
        """Return the page of the row that it is about, empty without one."""
        return self.held.url if self.held else self.kind.url(self.hold.object_id)

    @property
    def reason(self) -> Text:
        """Return why it is held, in a word."""
        return REASONS[self.hold.reason]

    @property
    def sentence(self) -> Text:
        """Return why it is held."""
        return SENTENCES[self.hold.reason]

    @cached_property
    def findings(self) -> list[Finding]:
        """What the rules found."""
        return [
            Finding(
                each["rule"],
                Reason(each["reason"]),
                each["start"],
                each["end"],
            )
            for each in self.hold.findings
        ]

    @property
    def is_for_owner(self) -> bool:
        """Whether only its owner lets it in."""
        return self.hold.kind in owner_kinds()

    @property
    def question(self) -> str:
        """Return what its release asks once more."""
        return question_of(self.hold)

    @property
    def rules(self) -> list[NamedRule]:
        """The rules that found something."""
        return name_rules(self.findings)

    @cached_property
    def text(self) -> str:
        """The held text, character by character as the guard judged it."""
        text = self.held.text if self.held else ""
        return text if self.is_own else mask_secrets(text, self.findings)

    @property
    def segments(self) -> tuple[Segment, ...]:
        """The text with what was found marked; of one that is found in its lead alone, that."""
        text = self.text[: self.held.lead] if self.held and self.is_found_in_lead else self.text
        return cut(text, [(found.start, found.end) for found in self.findings])

    @property
    def is_found_in_lead(self) -> bool:
        """Whether nothing was found behind the lead of the text, so that the rest is shown as lines."""
        lead = self.held.lead if self.held else None
        return lead is not None and all(found.end <= lead for found in self.findings)

    @property
    def facts(self) -> Sequence[tuple[Text, str]]:
        """Return the lines about the text."""
        if self.held is None:
            return ()
        behind = self.held.behind if self.is_found_in_lead else ()
        return (
            *self.held.facts,
            *((name, value if self.is_own else mask(value)) for name, value in behind),
        )

    @property
    def excerpt(self) -> str:
        """Return a line of the text that begins just before what was found."""
        start = max(self.findings[0].start - LEAD_CHARS, 0)
        return ("…" if start else "") + self.text[start : start + EXCERPT_CHARS]

    @property
    def hidden(self) -> list[HiddenChar]:
        """Each hidden character of the text once, for the legend."""
        return list({char.char: char for char in find_hidden(self.text)}.values())

    @property
    def changes(self) -> list[Change]:
        """What it would change of the text in force, empty for something new."""
        if self.held is None or self.hold.decision or self.held.replaces is None:
            return []
        prefix, replaced = self.held.prefix, self.held.replaces
        if not self.is_own:
            replaced = mask(prefix + replaced).removeprefix(prefix)
        return word_diff(replaced, self.text.removeprefix(prefix)[: self.held.length])

    def with_unconfirmed(self) -> "HoldView":
        """Return it with the addresses in its text that an agent wrote and its owner never did. Two queries."""
        if self.held is None or self.hold.decision or self.held.is_by_person or not self.hold.owner:
            return self
        found = find_unconfirmed({self.pk: self.text}, owner=self.hold.owner)
        return replace(self, unconfirmed=found.get(self.pk, ()))


def view_holds(
    holds: Sequence[Hold],
    *,
    principal: Principal,
    queue: str,
    query: str,
) -> list[HoldView]:
    """Return holds as this reader sees them; `queue` is where they are shown: `held` or `decided`.

    Their actors are looked up when a page first names one.
    """
    texts = load_texts(holds)
    actors = {actor for hold in holds for actor in (hold.actor, hold.decided_by, hold.undone_by)}
    names: Any = SimpleLazyObject(lambda: name_actors(actors, reader=principal.owner))
    return [
        HoldView(
            hold=hold,
            held=texts.get(hold.pk),
            names=names,
            is_own=hold.owner_id == principal.owner.pk,
            may_undo=principal.may(
                Act(stored_kinds()[hold.kind].release_act) if hold.decision == Decision.RELEASED else Act.HOLD_DISCARD
            ),
            queue=queue,
            query=query,
        )
        for hold in holds
    ]
