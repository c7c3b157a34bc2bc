"""`minara recall ROLE`: the newest lessons, for eyes and for programs."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from minara_site.access.models import User
from tests.kit.tables import table
from tests.memory_app.roles.rows import LESSON, MOMENTUM, make_wrong

pytestmark = pytest.mark.django_db


def recall(*arguments):
    output = StringIO()
    call_command("recall", *arguments, stdout=output)
    return output.getvalue()


def test_prints_a_line_for_each_lesson_newest_first(ana):
    make_wrong(ana, hours=90, lesson="Old\nnews.")
    make_wrong(ana)
    make_wrong(User.objects.get(username="default"), lesson="Not hers.")
    lines = recall(MOMENTUM, "--user", "ana").splitlines()
    assert [line.rpartition("  ")[2] for line in lines] == [LESSON, "Old news."]
    assert "-2.50%" in lines[0]
    assert "Not hers." in recall(MOMENTUM), "without a name the default user's"


def test_prints_json(ana):
    entry = make_wrong(ana)
    records = json.loads(recall(MOMENTUM, "--user", "ana", "--json", "--limit", "1"))
    assert [(each["id"], each["lesson"], each["class"]) for each in records] == [(entry.pk, LESSON, "logic_error")]
    assert records[0]["symbol"]["asset"] == entry.asset


@table("number", ["0", "201", "many"])
def test_says_how_many_it_prints_at_most_and_who_is_missing(number, capsys):
    with pytest.raises(CommandError, match="from 1 to 200"):
        recall(MOMENTUM, "--limit", number)
    with pytest.raises(CommandError, match="nobody"):
        recall(MOMENTUM, "--user", "nobody")
