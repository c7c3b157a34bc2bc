"""What must hold for the tests themselves: nothing that fails by chance, and PostgreSQL where a database decides."""

import re

from tests.kit.site import APPS, ROOT

TESTS = ROOT / "tests"
CLOCK = re.compile(r"\b(?:sleep|perf_counter|monotonic|process_time)\(|\btime\.time\(|networkidle|wait_for_timeout")
WAITS = {  # where another process, or a server that is slow on purpose, takes its time
    "kit/site.py": "waits until another process is ready",
    "kit/own_trades.py": "an exchange that drips",
    "kit/messages_api.py": "a model that takes its time",
    "memory_app/embeddings/endpoint.py": "a provider that takes its time",
    "kernel/llm/budget_racers.py": "a model that thinks",
    "kernel/audit_log/sealers.py": "writers that pause between their transactions",
    "kernel/jobs/probe/jobs.py": "a job that takes long",
    "kernel/jobs/test_soak.py": "workers that are killed now and then",
    "kernel/processes/test_supervisor.py": "a child that does not end by itself",
    "access/security/conftest.py": "one-time codes are made of the time",
}
INSIDE_A_ROOM = {"adapters", "commands", "core", "demo", "fixes", "management", "sections", "selectors", "services"}
DECIDES = {  # what a database decides, by what a module of the product says
    "raw SQL": re.compile(r"\.cursor\(\)|\.raw\(|RawSQL|connection\.vendor|\bis_sqlite\("),
    "a lock": re.compile(r"select_for_update|advisory|\bLOCK TABLE\b"),
    "a constraint": re.compile(r"(?:Check|Unique)Constraint\(|IntegrityError"),
    "an index": re.compile(r"models\.Index\(|GinIndex"),
    "an upsert": re.compile(r"update_conflicts|ignore_conflicts|update_or_create|get_or_create"),
    "a look into JSON": re.compile(r"(?:details|metadata|arguments|options|plan|result)__\w+="),
}


def test_no_test_reads_the_clock_to_judge_or_sleeps_for_luck() -> None:
    """Figures are the bench's. Who has to wait says for what in `WAITS`."""
    files = [path for path in TESTS.rglob("*.py") if not {"bench", "planted"} & {*path.relative_to(TESTS).parts}]
    found = {str(path.relative_to(TESTS)) for path in files if CLOCK.search(path.read_text())}
    assert found - WAITS.keys() == {"lanes.py", "contracts/test_suite.py"}
    assert WAITS.keys() - found == set()


def test_what_a_database_decides_is_tried_on_postgresql_too() -> None:
    """A room with such things has tests that are marked `database`: in its folder, or of those that import from it.

    Migrations make the tables of every test.
    """
    marked = {path: path.read_text() for path in TESTS.rglob("test_*.py") if "mark.database" in path.read_text()}
    missing = []
    for app in APPS:
        for path in sorted(path for path in (ROOT / app).rglob("*.py") if "migrations" not in path.parts):
            reasons = [name for name, pattern in DECIDES.items() if pattern.search(path.read_text())]
            parts = path.relative_to(ROOT / app).parts[:-1]
            inside = INSIDE_A_ROOM | ({"pages"} if parts[:1] != ("pages",) else set())
            room = [part for part in parts if part not in inside]
            folder = TESTS.joinpath(*([] if app == "minara_site" else [app]), *room)
            imports = re.compile(rf"from {'.'.join([app, *room])}[. ]")
            is_tried = room and any(folder in test.parents or imports.search(text) for test, text in marked.items())
            if reasons and not is_tried:
                missing.append(f"{path.relative_to(ROOT)} has {', '.join(reasons)}; no test of its room is marked")
    assert missing == [], "\n".join(missing)
