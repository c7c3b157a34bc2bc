"""One session of the reference agent: its frozen prompt, its tools, and the loop of a turn.

It calls as an agent with a key would, for one owner and with no operator's reach. Sources: decisions (model calls,
budgets), contract (sessions, turns, suggestions).
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from django.utils import timezone
from django.utils.translation import gettext as _

from memory_app.search.core.surfaces import Surface
from minara_site.access.actors import CHAT_PREFIX
from minara_site.access.models import User
from minara_site.access.policy import AGENT_SCOPES, Act
from minara_site.access.principal import Principal
from minara_site.access.tools import Tool
from minara_site.agent.catalogue import RECALLED, answer_call, tools_for
from minara_site.agent.chat.core import Messages, result_block, said_by, system_blocks, trim_history
from minara_site.kernel.conversations.models import USUAL_TIER
from minara_site.kernel.conversations.services import (
    MAX_MESSAGE_CHARS,
    MAX_TOOL_CALLS,
    MAX_TOOL_NAME_CHARS,
    NewTurn,
    ToolCall,
    record_turn,
)
from minara_site.kernel.errors import Refused
from minara_site.kernel.llm.core import Category
from minara_site.kernel.llm.gateway import Conversation, Reply, Tier, ToolUse, converse, what_is_missing
from minara_site.kernel.plain_text import check_text
from profile_app.prompt.models import SessionSnapshot
from profile_app.prompt.selectors import get_frozen_prompt
from profile_app.prompt.services import end_session, start_session
from profile_app.prompt.suggestions import load_suggestions
from profile_app.prompt.suggestions_api import MAX_MESSAGE_CHARS as MAX_SUGGESTION_CHARS

TITLE = "minara chat"
READ_TIER, WRITE_TIER = 1, 2
MAX_ROUNDS = 12
MAX_TOKENS = 4_000


@dataclass
class TurnProgress:
    """What a turn has come to so far: what was said, which tools ran, and the messages that say so."""

    message: str
    messages: Messages = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    calls: list[ToolCall] = field(default_factory=list)
    is_completed: bool = False


class Chat:
    """An agent of one owner. `show` prints a text; `history` are the turns that the model still reads."""

    def __init__(
        self,
        owner: User,
        *,
        max_tier: int = USUAL_TIER,
        show: Callable[[str], None],
    ) -> None:
        """Raise Refused for somebody who is disabled or may own no session."""
        if not owner.is_active:
            raise Refused(_("%(name)s is disabled.") % {"name": owner.username})
        self.owner = owner
        self.max_tier = max_tier
        self.show = show
        self.principal = Principal(
            user=owner,
            role=owner.role,
            scopes=AGENT_SCOPES,
            key_prefix=f"{CHAT_PREFIX}.{owner.pk}",
        )
        for act in (Act.PROMPT_READ, Act.SUGGESTIONS_READ, Act.TURN_WRITE):
            self.principal.require(act)
        self.tools = {tool.name: tool for tool in tools_for(self.principal) if tier_of(tool) <= max_tier}
        self.history: list[Messages] = []
        self.session_id = ""

    def begin(self) -> None:
        """Start a session; its prompt is frozen now."""
        snapshot = start_session(
            owner=self.owner,
            title=TITLE,
            actor=self.principal.actor,
            now=timezone.now(),
            max_tier=self.max_tier,
        )
        self.session_id, self.history = snapshot.session_id, []
        for warning in snapshot.warnings:
            self.show(f"[{warning['name']}] {warning['detail']}" if warning["name"] else warning["detail"])

    def end(self) -> None:
        """End the session and wipe its prompt. Raises NotFound when it was erased meanwhile."""
        end_session(
            owner=self.owner,
            session_id=self.session_id,
            actor=self.principal.actor,
            now=timezone.now(),
        )

    def load_snapshot(self) -> SessionSnapshot:
        """Return the prompt of the session. Raises Gone when it was ended elsewhere."""
        return get_frozen_prompt(owner=self.owner, session_id=self.session_id)

    def answer(self, message: str) -> None:
        """Answer a message, and record the turn: as not completed when it breaks off after something was said or done.

        Raises what the gateway raises, Invalid for a message that cannot be stored, Gone or Conflict for a session that
        is over, and KeyboardInterrupt.
        """
        turn = TurnProgress(check_text(message, field="user_message", max_chars=MAX_MESSAGE_CHARS))
        if missing := what_is_missing():
            self.show(missing)
            return
        try:
            self.run(turn)
        finally:
            if turn.texts or turn.calls:
                self.record(turn)

    def run(self, turn: TurnProgress) -> None:
        """Ask the model and run the tools that it calls until it calls none, at most `MAX_ROUNDS` times."""
        snapshot = self.load_snapshot()
        system = system_blocks((snapshot.prefix, snapshot.personalization, snapshot.memory_context))
        notes = load_notes(snapshot, turn.message, actor=self.principal.actor)
        turn.messages.append(said_by("user", turn.message))
        earlier = [message for each in trim_history(self.history) for message in each]
        for rounds_left in reversed(range(MAX_ROUNDS + 1)):
            reply = converse(
                Conversation(
                    category=Category.AGENT,
                    task="chat",
                    tier=Tier.MAIN,
                    system=system,
                    notes=notes,
                    turns=(*earlier, *turn.messages),
                    tools=[tool.definition() for tool in self.tools.values()],
                    max_tokens=MAX_TOKENS,
                    owner_id=self.owner.pk,
                )
            )
            if reply.text:
                turn.texts.append(reply.text)
                self.show(reply.text)
            if not reply.tool_calls:
                self.close(turn, reply)
                return
            if rounds_left:
                results = [self.call(turn, use) for use in reply.tool_calls]
                turn.messages += [
                    said_by("assistant", reply.content),
                    said_by("user", results),
                ]
        self.show(_("Stopped: the agent called tools %(count)d times in a row.") % {"count": MAX_ROUNDS})

    def close(self, turn: TurnProgress, reply: Reply) -> None:
        """Take the last reply of a turn; one that was cut, or says nothing, does not complete it."""
        turn.is_completed = bool(reply.text) and not reply.is_cut
        if turn.is_completed:
            turn.messages.append(said_by("assistant", reply.content))
        else:
            self.show(_("The answer was cut: it is too long.") if reply.is_cut else _("The agent gave no answer."))

    def call(self, turn: TurnProgress, use: ToolUse) -> dict[str, object]:
        """Run one tool, show its name and what went wrong, and return what the model reads of it."""
        if len(turn.calls) >= MAX_TOOL_CALLS:
            return result_block(
                use.id,
                "Not run: too many tools in one turn.",
                is_error=True,
            )
        name = " ".join(use.name.split())[:MAX_TOOL_NAME_CHARS] or "?"
        tool = self.tools.get(name)
        if tool is None:
            problem, texts = _("There is no such tool."), ["There is no such tool in this session."]
        else:
            result = answer_call(
                self.principal,
                name,
                use.arguments,
                surface=Surface.COMMAND,
            )
            problem, texts = result.problem, [result.text] if result.problem else [RECALLED, result.text]
        turn.calls.append(
            ToolCall(
                name,
                use.arguments,
                ok=not problem,
                tier=tier_of(tool) if tool else None,
            )
        )
        self.show(f"[{name}] {problem}" if problem else f"[{name}]")
        return result_block(use.id, *texts, is_error=bool(problem))

    def record(self, turn: TurnProgress) -> None:
        """Keep the turn in the session and in the history. Raises Conflict when the session is over."""
        said = "\n\n".join(turn.texts)[:MAX_MESSAGE_CHARS]
        if turn.is_completed:
            self.history.append(turn.messages)
        elif said:
            self.history.append([said_by("user", turn.message), said_by("assistant", said)])
        record_turn(
            owner=self.owner,
            session_id=self.session_id,
            turn=NewTurn(turn.message, said, turn.calls, completed=turn.is_completed),
            actor=self.principal.actor,
            now=timezone.now(),
        )


def tier_of(tool: Tool) -> int:
    """Return the permission tier of a tool of the catalogue."""
    return READ_TIER if tool.is_read_only else WRITE_TIER


def load_notes(
    snapshot: SessionSnapshot,
    message: str,
    *,
    actor: str,
) -> tuple[str, ...]:
    """Return the blocks that are suggested for a message; the model reads them in this turn alone."""
    asked = message[:MAX_SUGGESTION_CHARS]
    session, now = snapshot.session, timezone.now()
    found = load_suggestions(
        session=session,
        message=asked,
        reader=session.owner,
        actor=actor,
        now=now,
    )
    blocks = (
        found["block"],
        *(extra["block"] for extra in found["extras"].values()),
    )
    return tuple(block for block in blocks if block)
