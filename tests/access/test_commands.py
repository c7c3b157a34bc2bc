"""`minara user` and `minara key`."""

import io
import sys

import pytest
from django.core.management import CommandError, call_command

from minara_site.access.keys.core import parse_key
from minara_site.access.keys.services import authenticate_key
from minara_site.access.models import ApiKey, User
from minara_site.access.policy import Role
from minara_site.access.users import get_user
from tests.kit.tables import table

pytestmark = pytest.mark.django_db
PASSWORD = "correct horse battery"


@pytest.fixture
def run(capsys, monkeypatch):
    """Run a command with this input and return its output lines."""

    def run(*words, stdin=""):
        monkeypatch.setattr(sys, "stdin", io.StringIO(stdin))
        out = io.StringIO()
        call_command(*words, stdout=out)
        return out.getvalue().splitlines()

    return run


class TestUser:
    def test_create_takes_role_and_password(self, run):
        assert run("user", "create", "kim", "--role", "operator", "--password-stdin", stdin=f"{PASSWORD}\n") == [
            "Made kim (operator)."
        ]
        user = User.objects.get(username="kim")
        assert user.role is Role.OPERATOR
        assert user.check_password(PASSWORD)

    def test_create_without_a_terminal_makes_somebody_who_only_has_keys(self, run):
        assert "only keys work" in run("user", "create", "bot")[0]

    @table(
        ("words", "stdin", "message"),
        [
            (["create", "all"], "", "Choose another"),
            (["create", "default"], "", "Choose another"),
            (["create", "kim", "--password-stdin"], "", "holds no password"),
            (["create", "kim", "--password-stdin"], "short\n", "too short"),
            (["create", "kim", "--role", "king"], "", "invalid choice"),
            (["disable", "nobody"], "", "no user named nobody"),
            ([], "", "required"),
        ],
    )
    def test_says_what_is_wrong_in_one_line(self, run, words, stdin, message):
        with pytest.raises(CommandError, match=message) as caught:
            run("user", *words, stdin=stdin)
        assert "\n" not in str(caught.value)
        assert list(User.objects.values_list("username", flat=True)) == ["default"]

    def test_list_shows_everybody(self, run, olga):
        default, operator = run("user", "list")
        assert default.split()[:3] == ["default", "user", "active"]
        assert operator.split()[:3] == ["olga", "operator", "active"]

    def test_who_is_disabled_gets_no_key_until_enabled_again(self, run, ana):
        assert "Disabled ana" in run("user", "disable", "ana")[0]
        with pytest.raises(CommandError, match="ana is disabled"):
            run("key", "create", "--user", "ana", "--scopes", "memory:read")
        assert not ApiKey.objects.exists()
        assert "Enabled ana" in run("user", "enable", "ana")[0]
        assert get_user("ana").is_active
        with pytest.raises(CommandError, match="no user named nobody"):
            run("user", "enable", "nobody")

    def test_disable_keeps_the_last_operator(self, run, olga):
        with pytest.raises(CommandError, match="last operator"):
            run("user", "disable", "olga")


class TestKey:
    def test_create_prints_the_key_as_its_last_line(self, run, ana, now):
        lines = run("key", "create", "--user", "ana", "--scopes", "memory:read,memory:write", "--label", "laptop")
        row = ApiKey.objects.get()
        assert parse_key(lines[-1]) == row.prefix
        assert row.label == "laptop"
        assert authenticate_key(lines[-1], address="", now=now).user == ana

    @table("user", [[], ["--user", "default"]])
    def test_create_knows_the_default_user_by_that_name(self, run, user):
        User.objects.filter(is_default=True).update(username="mei")
        run("key", "create", *user, "--scopes", "memory:read", "--expires-days", "0")
        assert ApiKey.objects.get().user.username == "mei"

    @table(
        ("words", "message"),
        [
            (["create", "--user", "nobody", "--scopes", "memory:read"], "no user named nobody"),
            (["create", "--user", "ana", "--scopes", "everything"], "Choose from"),
            (["create", "--user", "ana", "--scopes", ","], "Choose from"),
            (["create", "--user", "ana", "--scopes", "operator"], "operators"),
            (["create", "--user", "ana", "--scopes", "memory:read", "--expires-days", "9999"], "3650"),
            (["create", "--user", "ana", "--scopes", "memory:read", "--expires-days", "soon"], "invalid int"),
            (["create", "--user", "ana"], "required"),
            (["list", "--user", "nobody"], "no user named nobody"),
            (["revoke", "aaaaaaaa"], "no such key"),
        ],
    )
    def test_says_what_is_wrong_in_one_line(self, run, ana, words, message):
        with pytest.raises(CommandError, match=message) as caught:
            run("key", *words)
        assert "\n" not in str(caught.value)
        assert not ApiKey.objects.exists()

    def test_a_label_stays_on_its_line(self, run, ana):
        run("key", "create", "--user", "ana", "--scopes", "memory:read", "--label", "a\nb\x1b[31m")
        (line,) = run("key", "list")
        assert line.endswith("a b<U+001B>[31m")

    def test_list_and_revoke(self, run, ana, ben):
        text = run("key", "create", "--user", "ana", "--scopes", "memory:read")[-1]
        run("key", "create", "--user", "ben", "--scopes", "memory:read")
        assert len(run("key", "list")) == 2
        (line,) = run("key", "list", "--user", "ana")
        assert line.split()[:3] == [parse_key(text), "ana", "active"]
        assert text not in line
        run("key", "revoke", parse_key(text))
        assert run("key", "list", "--user", "ana")[0].split()[2] == "revoked"
