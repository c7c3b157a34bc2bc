"""From the sources' database to today's tags: `import --from minara`, then `migrate-user-tags-v2`."""

import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from minara_site.access.models import User
from profile_app.portrait.core.tags import TagSource
from profile_app.portrait.models import UserTag, UserTagEvent, UserTagV1
from profile_app.portrait.services.tags import set_tag
from tests.kit.clock import NOON
from tests.memory_app.importers.test_import import bring, verdicts

pytestmark = pytest.mark.django_db

SCHEMA = """
CREATE TABLE memories (id INTEGER PRIMARY KEY, category TEXT, content TEXT);
CREATE TABLE user_tags (
  user_id TEXT, name TEXT, value TEXT, source TEXT, updated_at TEXT, PRIMARY KEY (user_id, name)
);
"""
OLD = "2026-01-05 08:00:00"
ROWS = [
    ("Risk Profile", "Conservative", "user", OLD),
    ("Asset Preference", '["Crypto Majors", "Memes"]', "inferred", OLD),
    ("Decision-Making Style", "vibes", "inferred", OLD),
    ("Asset Tier", "tier_2", "inferred", OLD),
    ("Patience Level", "High", "inferred", OLD),
]


def database(folder: Path, *rows: tuple[str, ...]) -> Path:
    path = folder / "old.db"
    path.unlink(missing_ok=True)
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(SCHEMA)
        connection.executemany("INSERT INTO user_tags VALUES ('default', ?, ?, ?, ?)", rows)
        connection.commit()
    return path


def migrate(*options: str) -> tuple[int, list[str]]:
    out = StringIO()
    try:
        call_command("migrate-user-tags-v2", *options, stdout=out)
    except SystemExit as ended:
        return int(ended.code or 0), out.getvalue().splitlines()
    return 0, out.getvalue().splitlines()


@pytest.fixture
def default() -> User:
    return User.objects.get(is_default=True)


def tags() -> dict[str, tuple[str, str]]:
    return {tag.name: (tag.value, tag.source) for tag in UserTag.objects.all()}


def test_brings_the_rows_and_migrates_them_once(default: Any, tmp_path: Path) -> None:
    path = database(tmp_path, *ROWS)
    assert verdicts(bring(path, "minara", "--user", "default")[1]) == ["new"] * 5
    assert not UserTagV1.objects.exists()
    for verdict in ("new", "duplicate"):
        assert verdicts(bring(path, "minara", "--apply", "--user", "default")[1]) == [verdict] * 5
    assert UserTagV1.objects.get(name="Risk Profile").updated_at == datetime(2026, 1, 5, 8, tzinfo=UTC)

    status, lines = migrate()
    assert (status, [line.split()[0] for line in lines[:-1]].count("migrated"), tags()) == (2, 3, {})
    assert "Nothing was written" in lines[-1]
    status, lines = migrate("--apply")
    assert status == 2
    assert [line for line in lines if "Decision-Making Style: vibes" in line and line.startswith("unknown")]
    assert [line for line in lines if "Asset Tier" in line and line.startswith("dropped")]
    assert tags() == {
        "risk": ("conservative", "user"),
        "markets": ('["crypto_majors","memes"]', "inferred"),
        "Patience Level": ("High", "inferred"),
    }
    before = list(UserTag.objects.values()), UserTagEvent.objects.count(), list(UserTagV1.objects.values())
    assert migrate("--apply", "--user", "all")[0] == 2
    assert (list(UserTag.objects.values()), UserTagEvent.objects.count(), list(UserTagV1.objects.values())) == before


def test_a_newer_row_is_migrated_again_and_an_older_one_is_none(default: Any, tmp_path: Path) -> None:
    bring(
        database(tmp_path, ("Risk Profile", "Balanced", "inferred", OLD)),
        "minara",
        "--apply",
        "--user",
        "default",
    )
    assert migrate("--apply")[0] == 0
    UserTag.objects.update(updated_at=datetime(2026, 1, 6, tzinfo=UTC))
    for changed, verdict in (("2026-01-04 00:00:00", "duplicate"), ("2026-02-04 00:00:00", "new")):
        path = database(tmp_path, ("Risk Profile", "Aggressive", "inferred", changed))
        assert verdicts(bring(path, "minara", "--apply", "--user", "default")[1]) == [verdict]
    migrate("--apply")
    assert tags() == {"risk": ("aggressive", "inferred")}


def test_a_tag_that_stands_gives_way_to_no_weaker_and_no_older_one(default: Any) -> None:
    def stand(name: str, value: str, source: TagSource, *, days: int) -> None:
        set_tag(
            owner=default,
            name=name,
            value=value,
            source=source,
            actor="test",
            now=NOON + timedelta(days=days),
        )

    def old(name: str, value: str, source: str) -> None:
        UserTagV1.objects.create(owner=default, name=name, value=value, source=source, updated_at=NOON)

    stand("risk", "aggressive", TagSource.USER, days=-9)
    old("Risk Profile", "Conservative", "inferred")
    stand("style", "technical", TagSource.INFERRED, days=1)
    old("Decision-Making Style", "News/Event", "inferred")
    stand("FOMO Index", "Low", TagSource.INFERRED, days=1)
    old("FOMO Index", "High", "declared")
    old("web3_knowledge_level", "level_2", "user")
    old("Web3 Knowledge Level", "Pro", "inferred")
    assert [line.split()[0] for line in migrate("--apply")[1]].count("kept") == 1
    assert tags() == {
        "risk": ("aggressive", "user"),
        "style": ("technical", "inferred"),
        "FOMO Index": ("High", "user"),
        "web3_knowledge_level": ("level_2", "user"),
    }
    noted = UserTagEvent.objects.filter(kind="outranked").order_by("name").values_list("name", "value")
    assert list(noted) == [("risk", "conservative"), ("web3_knowledge_level", "level_4")]


def test_refuses_a_row_that_is_none_alone(default: Any, tmp_path: Path) -> None:
    path = database(
        tmp_path,
        ("Risk Profile", "", "user", OLD),
        ("x" * 41, "y", "", OLD),
        ("risk", "balanced", "", OLD),
    )
    assert verdicts(bring(path, "minara", "--apply", "--user", "default")[1]) == ["rejected", "rejected", "new"]
