"""`minara import` through the real command, on the real database."""

import json
import os
from collections.abc import Callable
from datetime import UTC, datetime
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connection
from django.utils import timezone

from memory_app.importers.adapters import Format, open_bundle
from memory_app.importers.core.entries import Refusal
from memory_app.importers.services import run_import
from memory_app.memories.models import Memory
from memory_app.memories.services import delete_memories, restore_memories
from memory_app.user_profile.models import UserProfileEntry
from memory_app.user_profile.services import MAX_ENTRIES, set_entry
from minara_site.kernel.audit_log.models import AuditEntry
from minara_site.kernel.core.vocabulary import Category
from tests.kit.tables import table
from tests.memory_app.memories.factories import browser, make_memory

pytestmark = pytest.mark.django_db

Result = tuple[int, list[str]]


def bring(path: Path, source_format: str, *options: str, user: str = "ana") -> Result:
    """Run the command; return exit status and lines."""
    out = StringIO()
    status = 0
    try:
        call_command("import", str(path), "--from", source_format, "--user", user, *options, stdout=out)
    except SystemExit as exit_:
        status = int(exit_.code or 0)
    return status, out.getvalue().splitlines()


def verdicts(lines: list[str]) -> list[str]:
    return [line.split()[0] for line in lines[:-1]]


@pytest.fixture
def jsonl(tmp_path: Path) -> Callable[..., Path]:
    def write(*values: Any, name: str = "export.jsonl") -> Path:
        path = tmp_path / name
        lines = [value if isinstance(value, bytes) else json.dumps(value).encode() for value in values]
        path.write_bytes(b"\n".join(lines))
        return path

    return write


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    root = tmp_path / "workspace"
    (root / "memory").mkdir(parents=True)
    (root / "MEMORY.md").write_text("# Memory\n## Preferences\n- always 0.5% slippage\n## Other\n- avoids memes\n")
    (root / "USER.md").write_text("- **Name:** Ana\n- **Pronouns:**\n\nTrades from Lisbon in the morning.\n")
    (root / "SOUL.md").write_text("Be kind.\n")
    (root / "memory" / "2026-05-01.md").write_text("- BTC ETF inflows spiked\n")
    (root / "memory" / "2026-05-02.md").write_text("- 止损设为 8%\n")
    (root / "memory" / "heartbeat.json").write_text("{}")
    return root


def test_a_dry_run_writes_nothing(ana: Any, workspace: Path) -> None:
    status, lines = bring(workspace, "openclaw")
    assert (status, verdicts(lines)) == (0, ["new"] * 6)
    assert "run again with --apply" in lines[-1]
    assert not Memory.objects.exists()
    assert not UserProfileEntry.objects.exists()
    assert not AuditEntry.objects.exists()


def test_applies_a_workspace_with_provenance_dates_and_user_profile(ana: Any, workspace: Path) -> None:
    status, lines = bring(workspace, "openclaw", "--apply")
    assert status == 0
    assert lines[-1] == "Stored 6 new for ana; 0 duplicate, 0 rejected. 2 other files were left alone."
    stored = {row.origin: row for row in Memory.objects.for_owner(ana)}
    assert {origin: row.category for origin, row in stored.items()} == {
        "import:MEMORY.md:3": "preference",
        "import:MEMORY.md:5": "observation",
        "import:USER.md:4": "personalization",
        "import:memory/2026-05-01.md:1": "observation",
        "import:memory/2026-05-02.md:1": "observation",
    }
    assert {row.source for row in stored.values()} == {"inferred"}  # a command speaks for `default` alone
    assert {row.actor for row in stored.values()} == {"command:import"}
    assert stored["import:memory/2026-05-02.md:1"].updated_at == datetime(2026, 5, 2, tzinfo=UTC)
    assert stored["import:MEMORY.md:3"].metadata == {"heading": "Memory > Preferences"}
    entry = AuditEntry.objects.get(tool_call="memory_import")
    assert (entry.owner_id, entry.details["count"], entry.details["from"]) == (ana.pk, 5, "openclaw")
    assert dict(UserProfileEntry.objects.for_owner(ana).values_list("key", "value")) == {"name": "Ana"}
    assert AuditEntry.objects.get(tool_call="user_profile_set").actor == "command:import"


def test_no_row_brings_a_hard_constraint_in(ana: Any, jsonl: Callable[..., Path]) -> None:
    labels = ("constraint.hard", " Constraint.HARD ", "constraint.soft")
    path = jsonl(*({"content": f"never above {label}", "fact_type": label} for label in labels))
    status, lines = bring(path, "jsonl", "--apply")
    assert (status, verdicts(lines)) == (2, ["rejected", "rejected", "new"])
    assert "a hard constraint comes only with an export" in lines[0]
    assert Memory.objects.get().fact_type == "constraint.soft"


@pytest.mark.database
def test_a_second_run_writes_nothing_and_what_lies_in_the_trash_stays_there(ana: Any, workspace: Path) -> None:
    bring(workspace, "openclaw", "--apply")
    status, lines = bring(workspace, "openclaw", "--apply")
    assert (status, verdicts(lines)) == (0, ["duplicate"] * 6)
    assert Memory.objects.count() == 5
    assert AuditEntry.objects.filter(tool_call="memory_import").count() == 1
    Memory.objects.update(deleted_at=datetime(2026, 6, 1, tzinfo=UTC))
    _status, lines = bring(workspace, "openclaw", "--apply")
    assert "in the trash as memory" in lines[0]
    assert verdicts(lines) == ["duplicate"] * 6


@pytest.mark.database
def test_what_its_owner_deleted_in_these_words_stays_deleted_in_another_category(
    ana: Any, ben: Any, jsonl: Callable[..., Path]
) -> None:
    now = timezone.now()
    gone, kept = (make_memory(ana, text) for text in ("Avoids memes", "Likes gold"))
    delete_memories(principal=browser(ana), owner=ana, ids=[gone.pk, kept.pk], now=now)
    restore_memories(principal=browser(ana), owner=ana, ids=[kept.pk], now=now)
    path = jsonl(*({"content": text, "category": "lesson"} for text in ("avoids memes.", "likes gold")))
    status, lines = bring(path, "jsonl", "--apply")
    assert (status, verdicts(lines)) == (0, ["duplicate", "new"])
    assert f"in the trash as memory {gone.pk}  [lesson]" in lines[0]
    about = {"owner": ana, "apply": True, "now": now, "actor": f"user:{ana.pk}"}
    [first, _second] = run_import(bundle=open_bundle(path, Format.JSONL), **about)
    assert first.reason == f"in the trash as memory {gone.pk}; restore it there"
    assert verdicts(bring(path, "jsonl", user="ben")[1]) == ["new", "new"]


def test_the_same_text_of_another_owner_is_new(ana: Any, ben: Any, workspace: Path) -> None:
    bring(workspace, "openclaw", "--apply")
    bring(workspace, "openclaw", "--apply", user="ben")
    assert Memory.objects.for_owner(ben).count() == 5


def test_what_the_user_profile_says_is_never_overwritten(ana: Any, workspace: Path, now: datetime) -> None:
    set_entry(owner=ana, key="name", value="Anabel", actor="user:1", now=now)
    status, lines = bring(workspace, "openclaw", "--apply")
    assert status == 2
    assert "does not match: name: Anabel" in next(line for line in lines if "USER.md:1" in line)
    assert UserProfileEntry.objects.get().value == "Anabel"


def test_a_full_user_profile_takes_no_more_and_the_dry_run_says_so(ana: Any, workspace: Path) -> None:
    (workspace / "USER.md").write_text("\n".join(f"- key {number}: value" for number in range(MAX_ENTRIES + 2)))
    for options in ([], ["--apply"]):
        status, lines = bring(workspace, "openclaw", *options)
        assert (status, verdicts(lines).count("rejected")) == (2, 2)
    assert UserProfileEntry.objects.count() == MAX_ENTRIES


def test_an_agents_home_may_be_named_instead_of_its_folder(ana: Any, workspace: Path, tmp_path: Path) -> None:
    assert bring(tmp_path, "openclaw")[1][-1].startswith("Would store 6")


def test_reads_hermes_files(ana: Any, tmp_path: Path) -> None:
    folder = tmp_path / "memories"
    folder.mkdir()
    (folder / "MEMORY.md").write_text("uses pnpm\n§\nserver runs\nDebian\n")
    (folder / "USER.md").write_text("prefers short answers\n")
    status, lines = bring(tmp_path, "hermes", "--apply")
    assert (status, verdicts(lines)) == (0, ["new"] * 3)
    assert set(Memory.objects.values_list("category", "content")) == {
        ("observation", "uses pnpm"),
        ("observation", "server runs\nDebian"),
        ("personalization", "prefers short answers"),
    }


@pytest.mark.database
def test_names_each_line_that_is_wrong_and_stores_the_others(ana: Any, jsonl: Callable[..., Path]) -> None:
    path = jsonl(
        {"content": "first"},
        b"",
        b'{"content": "caf\xe9"}',
        b"{not json",
        b'{"content": "a", "content": "b"}',
        b'{"content": NaN}',
        {"content": "   "},
        {"content": "x" * 4001},
        {"content": "nul \0"},
        b'{"content": "half \\ud800"}',
        b'{"content": "x", "metadata": {"a": "\\u0000"}}',
        {"content": "x", "tickers": ["not a ticker"]},
        {"content": "x", "fact_type": "y" * 65},
        {"content": "x", "metadata": {"a": "y" * 9000}},
        {"content": "x", "created_at": "2999-01-01"},
        b'{"content": "x", "metadata": ' + b"[" * 100_000 + b"}",
        b'{"content": "x", "metadata": {"n": ' + b"9" * 5000 + b"}}",
        {"content": "x" * 2_000_000},
        {"content": "first"},
        {"content": " first "},
        {"content": "last", "category": "lesson"},
    )
    status, lines = bring(path, "jsonl", "--apply")
    assert status == 2
    numbers = [int(line.split(":")[1].split()[0]) for line in lines[:-1]]
    assert numbers == [1, *range(3, 22)]
    assert verdicts(lines) == ["new", *["rejected"] * 16, "duplicate", "duplicate", "new"]
    assert lines[-1] == "Stored 2 new for ana; 2 duplicate, 16 rejected."
    assert set(Memory.objects.values_list("content", flat=True)) == {"first", "last"}
    for line, word in zip(lines[1:17], WORDS, strict=True):
        assert word in line


WORDS = (
    *("not UTF-8", "not JSON", "twice", "NaN", "at least one character", "4000 characters", "NUL", "surrogate", "NUL"),
    *("tickers", "64 characters", "metadata", "future", "nested", "number", "longer than 1 MiB"),
)


def test_reads_byte_order_mark_and_carriage_returns(ana: Any, tmp_path: Path) -> None:
    path = tmp_path / "windows.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"content": "one"}\r\n{"content": "two"}\r\n')
    assert bring(path, "jsonl", "--apply")[0] == 0
    assert set(Memory.objects.values_list("content", flat=True)) == {"one", "two"}


def test_a_name_with_control_characters_reaches_neither_terminal_nor_origin(
    ana: Any,
    jsonl: Callable[..., Path],
) -> None:
    path = jsonl({"content": "x \x1b[31m\u202e y"}, name="a\x1b[2Jb.jsonl")
    _status, lines = bring(path, "jsonl", "--apply")
    assert not any(ord(char) < 32 for char in lines[0])
    assert "<U+202E>" in lines[0]
    assert Memory.objects.get().origin == "import:a<U+001B>[2Jb.jsonl:1"


def test_a_link_that_leads_out_is_refused(ana: Any, workspace: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret.md"
    secret.write_text("the secret\n")
    (workspace / "memory" / "2026-05-03.md").symlink_to(secret)
    (workspace / "USER.md").unlink()
    (workspace / "USER.md").symlink_to("USER.md")
    (workspace / "memory" / "2026-05-04.md").symlink_to("2026-05-01.md")
    status, lines = bring(workspace, "openclaw", "--apply")
    assert status == 2
    rejected = [line for line in lines if line.startswith("rejected")]
    assert len(rejected) == 2
    assert "USER.md" in rejected[0]
    assert "a link that leads out" in rejected[1]
    assert not Memory.objects.filter(content__contains="secret").exists()


def test_a_folder_of_notes_that_is_itself_a_link_is_refused(ana: Any, workspace: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    (workspace / "memory").rename(outside)
    (workspace / "memory").symlink_to(outside)
    status, lines = bring(workspace, "openclaw", "--apply")
    assert status == 2
    assert sum("leads out" in line for line in lines) == 2


def test_a_file_that_cannot_be_read_is_refused(jsonl: Callable[..., Path]) -> None:
    path = jsonl({"content": "x"})
    bundle = open_bundle(path, Format.JSONL)
    path.unlink()
    assert [found.item for found in bundle.found] == [Refusal(0, "it cannot be read: No such file or directory")]


def test_what_is_no_plain_file_or_too_large_is_refused(ana: Any, workspace: Path) -> None:
    os.mkfifo(workspace / "memory" / "2026-05-03.md")
    with (workspace / "memory" / "2026-05-04.md").open("wb") as stream:
        stream.truncate(5 * 1024 * 1024)
    (workspace / "memory" / "2026-05-05.md").mkdir()
    status, lines = bring(workspace, "openclaw")
    assert status == 2
    rejected = [line.split()[1] for line in lines if line.startswith("rejected")]
    assert rejected == [f"memory/2026-05-0{day}.md" for day in (3, 4, 5)]


def test_a_note_of_tomorrow_is_dated_now_and_a_later_one_refused(ana: Any, workspace: Path, now: datetime) -> None:
    (workspace / "memory" / "2026-06-13.md").write_text("- begun elsewhere\n")
    (workspace / "memory" / "2026-06-14.md").write_text("- not begun anywhere\n")
    bundle = open_bundle(workspace, Format.OPENCLAW)
    judged = list(run_import(owner=ana, bundle=bundle, apply=True, now=now, actor="command:import"))
    assert [one.verdict for one in judged][-2:] == ["new", "rejected"]
    assert Memory.objects.get(content="begun elsewhere").updated_at == now


@table("source_format", ["openclaw", "hermes", "jsonl"])
def test_says_what_is_missing(ana: Any, tmp_path: Path, source_format: str) -> None:
    for path in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(CommandError, match=str(tmp_path)):
            bring(path, source_format)


def test_refuses_an_unknown_user_and_an_unknown_format(ana: Any, jsonl: Callable[..., Path]) -> None:
    with pytest.raises(CommandError, match="no user named nobody"):
        bring(jsonl({"content": "x"}), "jsonl", user="nobody")
    with pytest.raises(CommandError, match=r"invalid choice: [^<>]+$"):
        bring(jsonl({"content": "x"}), "zep")


def test_quiet_shows_only_what_was_rejected_its_reason_to_the_end(ana: Any, jsonl: Callable[..., Path]) -> None:
    wrong = {"content": "x", "category": "nonsense"}
    _status, lines = bring(jsonl({"content": "x"}, wrong), "jsonl", "--verbosity", "0")
    assert len(lines) == 2
    assert all(category in lines[0] for category in Category)


@pytest.mark.database
def test_many_lines_go_in_slice_by_slice(
    ana: Any,
    jsonl: Callable[..., Path],
    django_assert_max_num_queries: Any,
) -> None:
    path = jsonl(*({"content": f"memory number {number}"} for number in range(1200)))
    with django_assert_max_num_queries(73):
        bring(path, "jsonl", "--apply", "--verbosity", "0")
    assert Memory.objects.count() == 1200
    counts = AuditEntry.objects.filter(tool_call="memory_import").order_by("pk").values_list("details", flat=True)
    assert [details["count"] for details in counts] == [500, 500, 200]


@pytest.mark.database
def test_stores_text_exactly_on_this_engine(ana: Any, jsonl: Callable[..., Path]) -> None:
    text = "σ ≥ 2 — “引号” 👩‍👩‍👧 \u200b $3200 → $3450\n second line"
    bring(jsonl({"content": text, "metadata": {"嵌": ["套", 1.5, None]}}), "jsonl", "--apply")
    row = Memory.objects.get()
    assert (row.content, row.metadata) == (text, {"嵌": ["套", 1.5, None]}), connection.vendor
