"""The tools that agents may call: those that the apps list, asked of the policy and called."""

from typing import Any

from django.utils import timezone
from django.utils.translation import gettext as _
from pydantic import BaseModel, ValidationError

from minara_site.access.principal import Principal
from minara_site.access.tools import MAX_REASONING_CHARS, Tool
from minara_site.kernel.audit_log.services import record_audit
from minara_site.kernel.errors import SAID_BEFORE, FieldError, Invalid, NotFound
from minara_site.kernel.registry import load


def load_tools() -> dict[str, Tool]:
    """Return every tool by name, in the apps' order."""
    return load("tools")


def tools_for(principal: Principal) -> list[Tool]:
    """Return the tools that this caller may use."""
    return [tool for tool in load_tools().values() if principal.may(tool.act)]


def call_tool(principal: Principal, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """Run a tool. Raises NotFound for an unknown name, Refused without permission, Invalid for wrong arguments."""
    tool = load_tools().get(name)
    if tool is None:
        raise NotFound(_("There is no such tool."))
    principal.require(tool.act)
    given = dict(arguments)
    reasoning = given.pop("reasoning", None)  # why it is called, where the agent says so
    if reasoning is not None and not (isinstance(reasoning, str) and len(reasoning) <= MAX_REASONING_CHARS):
        problem = _("Give the reasoning as text of at most %(most)d characters.") % {"most": MAX_REASONING_CHARS}
        raise Invalid(problem, errors=(FieldError("reasoning", problem),))
    parsed = parse_arguments(tool, given)
    if reasoning and tool.is_read_only:  # a write keeps it in the audit row of what it wrote
        record_audit(
            now=timezone.now(),
            actor=principal.actor,
            tool_call=tool.name,
            owner_id=principal.owner.pk,
            reasoning=reasoning,
        )
    return tool.run(principal, parsed, reasoning=reasoning or "")


def parse_arguments(tool: Tool, given: dict[str, Any]) -> BaseModel:
    """Return the arguments of a call as the tool's model. Raises Invalid, which names each wrong one."""
    try:
        return tool.arguments.model_validate(given)
    except ValidationError as error:
        wrong = tuple(
            FieldError(".".join(map(str, each["loc"])), each["msg"].removeprefix(SAID_BEFORE))
            for each in error.errors()
        )
        names = ", ".join(dict.fromkeys(each.field for each in wrong))
        raise Invalid(_("Correct %(fields)s.") % {"fields": names}, errors=wrong) from None
