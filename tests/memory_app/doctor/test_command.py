"""`minara doctor`: what it prints and how it ends."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from memory_app.edges.models import MemoryEdge
from minara_site.kernel.audit_log.models import AuditEntry
from minara_site.kernel.jobs.models import WorkerSeen
from tests.kit.rows import all_rows
from tests.kit.tables import table
from tests.memory_app.memories.factories import make_memory

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def worker(db):
    WorkerSeen.objects.create(name="host:1", seen_at=timezone.now())


def run(*arguments):
    """Return the exit status and what was printed."""
    out = StringIO()
    try:
        call_command("doctor", *arguments, stdout=out)
    except CommandError as error:
        return error.returncode, str(error)
    except SystemExit as end:
        return end.code, out.getvalue()
    return 0, out.getvalue()


def test_a_healthy_instance_ends_well_and_what_is_bad_with_1_and_what_to_do(ana):
    code, printed = run()
    assert code == 0
    assert "house: ok" in printed
    assert "memory: ok" in printed
    WorkerSeen.objects.all().delete()
    code, printed = run()
    assert code == 1
    assert "minara worker" in printed


def test_anonymous_tells_buckets_and_no_entity(ana):
    make_memory(ana, "Bought BTC")
    code, printed = run("--anonymous")
    assert (code, "memories live: 1-9" in printed, "BTC" in printed) == (0, True, False)
    assert "BTC" in run()[1]
    assert "example" not in run("--anonymous", "--fix")[1]


def test_json_is_json(ana):
    assert json.loads(run("--json")[1])["state"] == "ok"
    assert json.loads(run("--json", "--anonymous")[1])["anonymous"] is True
    fixed = json.loads(run("--json", "--fix")[1])
    assert fixed["applied"] is False
    assert [each["name"] for each in fixed["fixes"]] == ["edges", "methodology_demotion", "embeddings"]


def test_fix_alone_changes_nothing_and_apply_does(ana):
    memory = make_memory(ana, "Bought BTC")
    MemoryEdge.objects.all().delete()
    before = all_rows()
    code, printed = run("--fix", "--only", "edges")
    assert (code, all_rows()) == (0, before)
    assert f"edges: added 1, memories 1, decisions 0 (for example {memory.pk})" in printed
    assert "run again with --apply" in printed
    code, printed = run("--fix", "--apply", "--only", "edges")
    assert (code, MemoryEdge.objects.count()) == (0, 1)
    assert "applied  edges: added 1" in printed
    assert AuditEntry.objects.get(tool_call="doctor.fix.edges").actor == "command:doctor"


def test_a_provider_that_is_down_hides_nothing_that_was_done_and_json_stays_json(ana, endpoint):
    endpoint.status = 500
    make_memory(ana, "Bought BTC")
    MemoryEdge.objects.all().delete()
    code, printed = run("--fix", "--apply")
    assert code == 1
    assert "applied  edges: added 1" in printed
    assert "failed   embeddings: The embedding provider is not available (HTTP 500)." in printed
    assert AuditEntry.objects.filter(tool_call__startswith="doctor.fix.").count() == 3
    code, printed = run("--fix", "--apply", "--json")
    edges, _demotion, embeddings = json.loads(printed)["fixes"]
    assert (code, edges) == (1, {"name": "edges", "counts": {"added": 0}})
    said = {"code": "embeddings_unavailable", "detail": "The embedding provider is not available (HTTP 500)."}
    assert embeddings == {"name": "embeddings", "counts": {}, "error": said}
    code, printed = run("--fix", "--apply", "--json", "--anonymous")
    assert (code, json.loads(printed)["fixes"][2]["error"]) == (1, {"code": "embeddings_unavailable"})
    assert "failed   embeddings: embeddings_unavailable" in run("--fix", "--apply", "--anonymous")[1]


@table(
    "arguments",
    [
        ("--apply",),
        ("--only", "edges"),
        ("--fix", "--only", "vacuum"),
        ("--fix", "--apply", "--only", "edges,graduation"),
    ],
)
def test_a_wrong_call_ends_with_2_and_changes_nothing(ana, arguments):
    before = all_rows()
    assert run(*arguments)[0] == 2
    assert all_rows() == before
