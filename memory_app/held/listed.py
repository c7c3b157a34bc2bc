"""One hold as pages show it: what was found and why, where the text comes from, what it would replace."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from django.urls import reverse
from django.utils.translation import gettext as _

from memory_app.held.core import ROLE_KINDS, Kind
from memory_app.held.masking import mask, mask_secrets, mask_value
from memory_app.held.selectors import HeldText, load_texts
from memory_app.memories.confirming import find_unconfirmed, is_by_person
from memory_app.memories.destinations import Destination
from memory_app.memories.selectors import name_actors
from memory_app.roles.core import Status
from memory_app.search.core.highlight import Segment, cut
from minara_site.access.principal import Principal
from minara_site.kernel.core.diff import Segment as Change
from minara_site.kernel.core.diff import word_diff
from minara_site.kernel.core.hidden import HiddenChar, find_hidden
from minara_site.kernel.guard.core import Finding, Reason
from minara_site.kernel.guard.models import Hold
from minara_site.web.filters import Text
from minara_site.web.guard_words import REASONS, SENTENCES, NamedRule, name_rules

LEAD_CHARS = 24
EXCERPT_CHARS = 160


@dataclass(frozen=True)
class ListedHold:
    """A hold as its reader sees it. `text` is empty once it is decided; `query` is that of the list it stands in.

    A secret of somebody else is masked: an operator judges what kind it is, not what it says (decisions, tenancy).
    """

    hold: Hold
    held: HeldText | None
    author: str
    decider: str
    is_own: bool
    query: str = ""
    unconfirmed: tuple[Destination, ...] = ()

    @property
    def pk(self) -> int:
        """The id."""
        return self.hold.pk

    @property
    def url(self) -> str:
        """Return the address of its own page, the filters of the list kept."""
        return reverse("held:one", args=[self.pk]) + (f"?{self.query}" if self.query else "")

    @property
    def title(self) -> str:
        """Return what it is about."""
        if self.hold.kind == Kind.USER_PROFILE:
            entry = self.held.entry if self.held else None
            return _("Profile entry %(key)s") % {"key": entry.key} if entry else _("Profile entry")
        if self.hold.kind == Kind.ROLE_DECISION:
            return _("Decision %(id)d") % {"id": self.hold.object_id}
        if self.hold.kind == Kind.ROLE_LESSON:
            return _("Lesson of decision %(id)d") % {"id": self.hold.object_id}
        return _("Memory %(id)d") % {"id": self.hold.object_id}

    @property
    def is_of_role(self) -> bool:
        """Whether it is a text of role memory."""
        return self.hold.kind in ROLE_KINDS

    @property
    def goes_when_discarded(self) -> bool:
        """Whether a discard deletes the decision that it is; a reflection, and what it is about, stays held."""
        decision = self.held.decision if self.held else None
        return self.hold.kind == Kind.ROLE_DECISION and decision is not None and decision.status != Status.REFLECTED

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
            Finding(each["rule"], Reason(each["reason"]), each["start"], each["end"]) for each in self.hold.findings
        ]

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
        """The text with what was found marked."""
        return cut(self.text, [(found.start, found.end) for found in self.findings])

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
        """What it would change of what stands, empty for something new."""
        if self.held is None or self.held.replaces is None:
            return []
        memory, entry, replaced = self.held.memory, self.held.entry, self.held.replaces
        proposed = self.text[: len(memory.content)] if memory else self.text
        if not self.is_own:
            replaced = mask_value(entry.key, replaced) if entry else mask(replaced)
        return word_diff(replaced, proposed.removeprefix(f"{entry.key}: ") if entry else proposed)


def shape_holds(holds: Sequence[Hold], *, principal: Principal, query: str = "") -> list[ListedHold]:
    """Return holds as this reader sees them. Seven queries at most, whatever their number."""
    texts = load_texts(holds)
    names = name_actors({hold.actor for hold in holds} | {hold.decided_by for hold in holds}, reader=principal.owner)
    return [
        ListedHold(
            hold=hold,
            held=texts.get(hold.pk),
            author=names[hold.actor],
            decider=names[hold.decided_by],
            is_own=hold.owner_id == principal.owner.pk,
            query=query,
        )
        for hold in holds
    ]


def find_doubts(listed: ListedHold) -> tuple[Destination, ...]:
    """Return the addresses in a held text that an agent wrote and its owner never did."""
    memory = listed.held.memory if listed.held else None
    source = memory.source if memory else None if listed.is_of_role else "user_manual"
    if listed.held is None or is_by_person(source=source, actor=listed.hold.actor):
        return ()
    return find_unconfirmed({listed.pk: listed.text}, owner=listed.hold.owner).get(listed.pk, ())
