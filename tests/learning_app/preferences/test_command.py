"""`minara preferences`: a soft one is decided anywhere, a hard constraint by who sits at a terminal and types (R-19)."""

import json
import os
import pty
import subprocess
import sys
from contextlib import suppress
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from learning_app.preferences.models import Preference
from minara_site.access.models import User
from tests.kit.clock import NOON
from tests.learning_app.rows import make_preference

HARD = {"kind": "hard_constraint", "dimension": "risk_limit", "statement": "Never above 3x"}


def run(*arguments):
    """Run the command for Ana; return exit status, output and complaint."""
    out, err, status = StringIO(), StringIO(), 0
    try:
        call_command("preferences", *map(str, arguments), "--user", "ana", stdout=out, stderr=err)
    except SystemExit as ended:
        status = int(ended.code or 0)
    return status, out.getvalue(), err.getvalue()


@pytest.mark.django_db
def test_lists_approves_and_rejects(ana, ben):
    make_preference(ben)
    assert run("list")[1] == "There are no preferences.\n"
    row, other = make_preference(ana, "Calm\u200b words", rules_version="x"), make_preference(ana, "Quiet before seven")
    assert run("approve", row.pk, "--statement", "Calm words")[0] == 0
    assert "rejected" in run("reject", other.pk, "--reason", "not so")[1]
    other.refresh_from_db()
    assert (other.reason, other.decided_by) == ("not so", "command:preferences")
    [shown] = json.loads(run("list", "--state", "active", "--json")[1])
    assert (shown["id"], shown["statement"], shown["state"]) == (row.pk, "Calm words", "active")
    assert [line.split()[1] for line in run("list")[1].splitlines()] == ["rejected", "active"]
    assert json.loads(run("reject", make_preference(ana).pk, "--json")[1])["state"] == "rejected"
    for arguments in (
        ("approve", row.pk),
        ("reject", 987_654),
        ("approve", Preference.objects.get(owner=ben).pk),
    ):
        with pytest.raises(CommandError):
            run(*arguments)


@pytest.mark.django_db
def test_a_hard_constraint_needs_a_person_at_a_terminal(ana):
    row = make_preference(ana, **HARD)
    status, out, err = run("approve", row.pk, "--statement", "Never above 9x")
    assert (status, out) == (2, "")
    assert "only its owner activates it, on its page" in err, "a terminal is nobody's but the default user's"
    row.refresh_from_db()
    assert (row.state, row.statement) == ("proposed", "Never above 3x")
    own = make_preference(User.objects.get(is_default=True), **HARD)
    complaint = StringIO()
    with pytest.raises(SystemExit):
        call_command("preferences", "approve", str(own.pk), stderr=complaint)
    assert "Run this at a terminal" in complaint.getvalue()
    assert run("reject", row.pk)[0] == 0


def seed():
    """Give the default user a limit in force and a proposal; return the id of the proposal."""
    default = User.objects.get(is_default=True)
    make_preference(default, **{**HARD, "statement": "Never above 9x"}, state="active")
    return make_preference(default, **HARD, created_at=NOON).pk


def at_terminal(site, typed, *arguments, **environment):
    """Return exit status and output of `minara preferences …` when somebody types this line."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-c", "from minara_site.cli import main; main()", "preferences", *arguments]
    process = subprocess.Popen(
        command,
        cwd=site.folder,
        env=site.environment | environment,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    os.write(ours, f"{typed}\n".encode())
    said = b""
    with suppress(OSError):  # the terminal's other end is closed
        while read := os.read(ours, 4096):
            said += read
    os.close(ours)
    return process.wait(), said.decode()


@pytest.mark.processes
def test_at_a_terminal_the_limits_the_effect_and_the_typed_value_are_asked_for(site):
    pk = site.call("tests.learning_app.preferences.test_command:seed")
    state = f"SELECT state FROM learned_preferences WHERE id = {int(pk)}"
    assert at_terminal(site, "3x", "approve", pk, MINARA_NON_INTERACTIVE="true")[0] == 2
    assert at_terminal(site, "yes", "approve", pk)[0] == 1
    assert site.query(state) == [("proposed",)]
    status, said = at_terminal(site, "3x", "approve", pk)
    assert status == 0, said
    assert said.index("Never above 9x") < said.index("Never above 3x") < said.index("Type 3x to activate it")
    assert "Archive the one that it replaces" in said
    assert site.query(state) == [("active",)]
