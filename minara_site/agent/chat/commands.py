"""What a person types after a slash: the commands of the shell with the same names, run as that person here.

The model can call none of them. `/preferences approve` of a hard constraint asks at the terminal, as the shell does.
"""

from django.core.management import CommandError, call_command
from django.utils.translation import gettext as _

from memory_app.roles.registry import registry
from minara_site.agent.chat.session import Chat
from minara_site.agent.chat.terminal import Terminal


def run_command(line: str, chat: Chat, terminal: Terminal) -> bool:
    """Run what stands after the slash, and say whether the chat continues. Raises what the chat raises."""
    name, _space, rest = line.partition(" ")
    words = rest.split()
    match name:
        case "/quit":
            return False
        case "/help":
            terminal.show("\n".join(f"{usage:<42}{meaning}" for usage, meaning in help_lines()))
        case "/new":
            chat.end()
            chat.begin()
            terminal.show(_("A new session has begun. Its prompt holds what was written until now."))
        case "/prompt":
            prompt = chat.load_snapshot().prompt
            terminal.show(prompt.text)
            terminal.show(_("About %(tokens)d tokens.") % {"tokens": prompt.tokens})
        case "/reflect" | "/recall" | "/budget" | "/preferences" | "/profile" | "/workspace":
            run_shell(name.removeprefix("/"), words, chat, terminal)
        case _:
            terminal.show(_("There is no command %(name)s. /help lists them.") % {"name": name})
    return True


def help_lines() -> list[tuple[str, str]]:
    """Return how each command is written, and what it does."""
    return [
        ("/prompt", _("show what the agent was given at the start of this session")),
        ("/reflect [ROLE]", _("reflect on the decisions of a role; without one, list the roles")),
        ("/recall [ROLE]", _("show the newest lessons of a role; without one, list the roles")),
        ("/profile", _("show who the agent thinks you are")),
        ("/profile refresh", _("read your folder again and bring your tags up to date")),
        ("/profile set SETTING on/off", _("switch include_memories, include_trading_summary or include_tags")),
        ("/workspace FILE", _("show an agent file, such as soul, agents or user")),
        ("/budget", _("show what model calls cost, and what they may cost")),
        ("/preferences [list]", _("list the preferences")),
        ("/preferences approve ID", _("approve a proposal")),
        ("/preferences reject ID [REASON]", _("reject a proposal")),
        ("/new", _("end this session and start another")),
        ("/quit", _("end this session and leave; so does Ctrl-D")),
    ]


def run_shell(
    name: str,
    words: list[str],
    chat: Chat,
    terminal: Terminal,
) -> None:
    """Run a command of the shell here, for the chat's owner; what it refuses is one line."""
    if name in {"reflect", "recall"} and not words:
        terminal.show("\n".join(each.id for each in registry().all()))
        return
    if name == "preferences":
        words = preference_arguments(words)
    if name == "profile" and not words:
        words = ["show"]
    if name in {"recall", "preferences", "profile", "workspace"}:
        words = [*words, "--user", chat.owner.get_username()]
    try:
        call_command(
            name,
            *words,
            stdout=terminal,
            stderr=terminal,
            no_color=True,
        )
    except CommandError as error:
        terminal.show(str(error))
    except SystemExit:  # its exit status is the shell's matter; it has said what there is to say
        pass


def preference_arguments(words: list[str]) -> list[str]:
    """Return the arguments of the shell's `preferences`: by itself it lists, and a reason is one text."""
    match words:
        case []:
            return ["list"]
        case ["reject", identifier, first, *more] if not first.startswith("-"):
            return ["reject", identifier, f"--reason={' '.join([first, *more])}"]
    return words
