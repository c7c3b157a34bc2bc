"""A question in the form of the Messages API, and its answer read back. Pure: bytes and dictionaries.

Every answer is the input of one tool. Most models are forced to call it. Newer ones refuse a forced call (Sonnet 5.5,
Opus 5.5, Fable 5.1: "What's new", forced tool use is not supported); they get the tool in strict form, free to call it,
and the system text asks for it. Sonnet 5.5 is asked not to think first, the others that cannot leave it to think
little: what is thought counts towards `max_tokens`. Haiku 5.5 and everything older take a forced call and then do not
think at all, so that nothing is said of it. In a conversation every tool is free.
"""

import json
import re
from collections.abc import Callable
from functools import cache
from typing import Any, Final, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from minara_site.kernel.llm.core.prices import Tokens
from minara_site.kernel.llm.core.questions import Conversation

TAKES_NO_FORCED_TOOL: Final = re.compile(r"(sonnet|opus)-5[-.]5|(fable|mythos)-5[-.]1")
THINKS_ON_REQUEST: Final = re.compile(r"sonnet-5[-.]5")
CACHED: Final = {"type": "ephemeral"}
REFUSAL: Final = "refusal"
CUT: Final = {"max_tokens", "model_context_window_exceeded"}
SENDABLE: Final = {"text", "tool_use", "thinking", "redacted_thinking"}
MAX_PROBLEMS: Final = 10
MAX_TOKENS: Final = 1_000_000_000

T = TypeVar("T", bound=BaseModel)
Turns = tuple[dict[str, Any], ...]
Strict = Callable[[dict[str, Any]], dict[str, Any]]


class Rejected(Exception):
    """An answer that is not what was asked; its text is for the model alone, for it may hold what the model wrote."""


class Declined(Exception):
    """The model says that it will not answer; asking again would not help."""


class Unreadable(Exception):
    """What came back is no message of the Messages API, so that nobody knows what it cost."""


class Usage(BaseModel):
    """What a call used, as the API says it. Other endpoints leave the caches out, or say null."""

    input_tokens: int = Field(ge=0, le=MAX_TOKENS)
    output_tokens: int = Field(ge=0, le=MAX_TOKENS)
    cache_creation_input_tokens: int | None = Field(default=None, ge=0, le=MAX_TOKENS)
    cache_read_input_tokens: int | None = Field(default=None, ge=0, le=MAX_TOKENS)

    @property
    def tokens(self) -> Tokens:
        """The same, without what is unknown."""
        cached = (self.cache_read_input_tokens or 0, self.cache_creation_input_tokens or 0)
        return Tokens(self.input_tokens, self.output_tokens, *cached)


class Message(BaseModel):
    """An answer. `content` are blocks of any kind, kept as they came, because a repair sends them back unchanged."""

    model_config = ConfigDict(extra="ignore")

    content: list[dict[str, Any]]
    stop_reason: str | None = None
    usage: Usage


def tool_name(answer: type[BaseModel]) -> str:
    """Return the tool's name: that of the model class, in snake case."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", answer.__name__).lower()


@cache
def tool_of(
    answer: type[BaseModel],
    *,
    is_forced: bool,
    strict: Strict,
) -> dict[str, Any]:
    """Return the definition of the tool, not to be changed; the same bytes for every question with this answer.

    `strict` returns the schema that a tool needs which is not forced.
    """
    schema = answer.model_json_schema()
    tool = {
        "name": tool_name(answer),
        "description": schema.pop("description", answer.__name__),
    }
    if is_forced:
        return {**tool, "input_schema": schema, "cache_control": CACHED}
    return {
        **tool,
        "input_schema": strict(schema),
        "strict": True,
        "cache_control": CACHED,
    }


def body_of(
    *,
    model: str,
    system: str,
    answer: type[BaseModel],
    turns: Turns,
    max_tokens: int,
    is_forced: bool,
    strict: Strict,
) -> dict[str, Any]:
    """Return a request. Everything before `messages` is the same for every question of a task, and cached."""
    name = tool_name(answer)
    asked = f"{system}\n\nAnswer with one call of the tool `{name}`, and write nothing else."
    body = {
        "model": model,
        "max_tokens": max_tokens,
        "tools": [tool_of(answer, is_forced=is_forced, strict=strict)],
        "system": [{"type": "text", "text": asked, "cache_control": CACHED}],
        "messages": list(turns),
    }
    return {**body, **choice_of(model, name, is_forced=is_forced)}


def choice_of(model: str, name: str, *, is_forced: bool) -> dict[str, Any]:
    """Return what makes this model call the tool, and think no more than it must."""
    if is_forced:
        return {"tool_choice": {"type": "tool", "name": name}}
    return {
        "tool_choice": {"type": "auto", "disable_parallel_tool_use": True},
        **thinking_of(model),
    }


def thinking_of(model: str) -> dict[str, Any]:
    """Return what makes this model think no more than it must."""
    if THINKS_ON_REQUEST.search(model):
        return {"thinking": {"type": "between_tools"}}
    return {"output_config": {"effort": "low"}} if TAKES_NO_FORCED_TOOL.search(model) else {}


def conversation_body(conversation: Conversation, model: str) -> dict[str, Any]:
    """Return a step of a conversation. Tools and `system` are the same in each step of a session, and cached."""
    system: list[dict[str, Any]] = [
        {"type": "text", "text": text} for text in (*conversation.system, *conversation.notes)
    ]
    if conversation.system:
        system[len(conversation.system) - 1]["cache_control"] = CACHED
    body = {
        "model": model,
        "max_tokens": conversation.max_tokens,
        "system": system,
        "messages": list(conversation.turns),
        **thinking_of(model),
    }
    return {**body, "tools": list(conversation.tools), "tool_choice": {"type": "auto"}} if conversation.tools else body


def size_of(body: dict[str, Any]) -> int:
    """Return the bytes of a request, which are never fewer than its tokens."""
    return len(json.dumps(body, ensure_ascii=False).encode(errors="surrogatepass"))


def asked_turns(content: str) -> Turns:
    """Return the turns of a question."""
    return ({"role": "user", "content": content},)


def repair_turns(asked: Turns, message: Message, problem: str) -> Turns:
    """Return the turns that send an answer back with what is wrong with it."""
    results = [
        {
            "type": "tool_result",
            "tool_use_id": block.get("id", ""),
            "is_error": True,
            "content": problem,
        }
        for block in message.content
        if block.get("type") == "tool_use"
    ]
    said = {"role": "assistant", "content": message.content}
    again: list[dict[str, Any]] = [*results] if results else [{"type": "text", "text": problem}]
    if is_sendable(message.content):
        return (*asked, said, {"role": "user", "content": again})
    first = asked[0]["content"]
    return (
        {
            "role": "user",
            "content": [{"type": "text", "text": first}, {"type": "text", "text": problem}],
        },
    )


def is_sendable(content: list[dict[str, Any]]) -> bool:
    """Say whether the API takes these blocks back: a turn is not empty, a text not blank, each call whole, all JSON."""
    calls = [block for block in content if block.get("type") == "tool_use"]
    identifiers = {block.get("id") for block in calls if is_whole(block)}
    said = [block for block in content if block.get("type") == "text"]
    has_known_types = all(str(block.get("type")) in SENDABLE for block in content)
    has_texts = all(str(block.get("text") or "").strip() for block in said)
    return bool(content) and has_known_types and has_texts and len(identifiers) == len(calls) and is_storable(content)


def is_whole(call: dict[str, Any]) -> bool:
    """Say whether a call of a tool has its id, its name and an object as its input."""
    has_names = all(isinstance(call.get(name), str) and call[name] for name in ("id", "name"))
    return has_names and isinstance(call.get("input"), dict)


def read_message(content: bytes) -> Message:
    """Return the message that these bytes hold. Raises Unreadable."""
    try:
        return Message.model_validate_json(content)
    except ValidationError:
        raise Unreadable from None


def read_answer(
    message: Message,
    answer: type[T],
    *,
    max_tokens: int,
    check: Callable[[T], str] | None = None,
) -> T:
    """Return what the tool was called with. Raises Rejected with words for the model, or Declined."""
    if message.stop_reason == REFUSAL:
        raise Declined
    name = tool_name(answer)
    if message.stop_reason in CUT:
        raise Rejected(f"The answer was cut at {max_tokens} tokens. Call the tool `{name}` again, and be brief.")
    calls = [block for block in message.content if block.get("type") == "tool_use" and block.get("name") == name]
    if len(calls) != 1:
        raise Rejected(f"Call the tool `{name}` exactly once; it was called {len(calls)} times.")
    try:
        value = answer.model_validate(calls[0].get("input"))
    except ValidationError as error:
        found = error.errors(
            include_url=False,
            include_context=False,
            include_input=False,
        )
        lines = [f"- {'.'.join(map(str, each['loc'])) or 'input'}: {each['msg']}" for each in found[:MAX_PROBLEMS]]
        raise Rejected("\n".join([f"This input does not fit the schema of `{name}`:", *lines])) from None
    if not is_storable(calls[0].get("input")):
        raise Rejected("Leave out NUL characters, lone surrogates, and numbers that are not finite.")
    if check and (wrong := check(value)):
        raise Rejected(wrong)
    return value


def read_reply(message: Message) -> tuple[list[dict[str, Any]], bool]:
    """Return the blocks of a reply that can be sent back, and whether it was cut. Raises Declined, or Rejected.

    The API takes back no blank text; of a reply that was cut the calls may not be whole, so that none is kept.
    """
    if message.stop_reason == REFUSAL:
        raise Declined
    is_cut = message.stop_reason in CUT
    kept = SENDABLE - {"tool_use"} if is_cut else SENDABLE
    known = [block for block in message.content if str(block.get("type")) in kept]
    content = [block for block in known if block["type"] != "text" or has_text(block)]
    if content and not is_sendable(content):
        raise Rejected("A call of a tool is not whole, or a text cannot be stored.")
    return content, is_cut


def has_text(block: dict[str, Any]) -> bool:
    """Say whether a block of text says something."""
    return isinstance(block.get("text"), str) and bool(block["text"].strip())


def is_storable(value: Any) -> bool:
    """Say whether every text and number in a value read from JSON can be stored on both engines, and sent again."""
    try:
        written = json.dumps(value, ensure_ascii=False, allow_nan=False)
        written.encode()
    except ValueError:
        return False
    return "\\u0000" not in written.replace("\\\\", "")
