"""`minara chat`: talk with the reference agent at a terminal. Source: decisions (reference agent)."""

import logging
from argparse import ArgumentParser
from typing import Any

from django.db import InterfaceError, OperationalError, close_old_connections
from django.utils.translation import gettext as _

from minara_site.access.owner_command import OwnerCommand
from minara_site.agent.chat.commands import run_command
from minara_site.agent.chat.session import Chat
from minara_site.agent.chat.terminal import Terminal
from minara_site.kernel.conversations.models import MAX_TIER, MIN_TIER, USUAL_TIER
from minara_site.kernel.errors import MinaraError
from minara_site.kernel.llm.gateway import what_is_missing


class Command(OwnerCommand):
    """Read lines until there are no more: messages for the agent, and commands after a slash."""

    help = "Talk with the reference agent, which reads and writes one owner's memory. /help lists its commands."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare with whose memory, and which tools."""
        self.add_user(parser, "whose agent it is")
        parser.add_argument(
            "--max-tier",
            type=int,
            choices=range(MIN_TIER, MAX_TIER + 1),
            default=USUAL_TIER,
            help="highest tier of the tools that it may call: 1 reads, 2 writes memory",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Talk. A line that fails says why, and the next one is read; the session ends with the last line."""
        terminal = Terminal(self.stdout)
        if terminal.is_interactive:
            logging.getLogger().setLevel(logging.ERROR)  # log lines would stand between those of the talk
        chat = Chat(
            self.owner(options),
            max_tier=options["max_tier"],
            show=terminal.show,
        )
        chat.begin()
        try:
            if terminal.is_interactive:
                terminal.show(_("This is Minara's reference agent. /help lists the commands, /quit ends."))
                if missing := what_is_missing():
                    terminal.show(missing)
            while (line := terminal.read()) is not None:
                if line and not self.take_line(line, chat, terminal):
                    break
        finally:
            chat.end()

    def take_line(self, line: str, chat: Chat, terminal: Terminal) -> bool:
        """Answer a message or run a command, and say whether the chat continues. Ctrl-C ends the line alone."""
        try:
            if line.startswith("/"):
                return run_command(line, chat, terminal)
            chat.answer(line)
        except MinaraError as error:
            terminal.show(error.detail)
        except (OperationalError, InterfaceError):
            close_old_connections()  # the next line opens another
            terminal.show(_("The database does not answer now. Try again in a few seconds."))
        except KeyboardInterrupt:
            terminal.show(_("Interrupted."))
        return True
