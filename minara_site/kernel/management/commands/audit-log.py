# ruff: noqa: N999 - Django names a command after its file
"""`minara audit-log verify`: check the hash chain of the audit log."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError
from django.utils.translation import gettext as _

from minara_site.kernel.audit_log.verification import verify_chain
from minara_site.kernel.command import MinaraCommand


class Command(MinaraCommand):
    """Checks the hash chain."""

    help = "Check the audit log: `verify` computes every seal of its hash chain anew."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the act."""
        acts = parser.add_subparsers(dest="act", required=True)
        acts.add_parser("verify", help="Exit with 1 and name the first broken seal unless every seal fits.")

    def handle(self, *args: Any, **options: Any) -> None:
        """Verify. Raises CommandError when the chain is broken."""
        finding = verify_chain()
        if finding.broken:
            raise CommandError(finding.sentence)
        self.stdout.write(finding.sentence)
        if finding.sha256:
            self.stdout.write(_("Newest seal: %(sha256)s") % {"sha256": finding.sha256})
