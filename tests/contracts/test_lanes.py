"""What becomes of a test that fails, and of a folder that grows (`tests.lanes`)."""

import os
import subprocess
import sys
from pathlib import Path

from tests.kit.site import ROOT
from tests.kit.tables import table
from tests.lanes import over_budget

CHANCE = "tests/contracts/chance.py"
FIVE = [f"{CHANCE}::test_fails_the_first_time[{number}]" for number in range(5)]


@table(
    ("tests", "options", "code", "told"),
    [
        (FIVE, ["--again"], 0, ["UNSTABLE: ", *FIVE, "5 passed, 0 failed"]),
        (FIVE[:1], [], 1, ["0 passed, 1 failed"]),
        ([*FIVE, f"{CHANCE}::test_fails_the_first_time[5]"], ["--again"], 1, ["0 passed, 6 failed"]),
        ([FIVE[0], f"{CHANCE}::test_fails_always"], ["--again"], 1, ["on purpose", "0 passed, 2 failed"]),
    ],
)
def test_at_most_five_tests_run_once_more_and_only_when_asked(
    tmp_path: Path,
    tests: list[str],
    options: list[str],
    code: int,
    told: list[str],
) -> None:
    command = [sys.executable, "-m", "tests.lanes", "computing", *options, "-n", "0", *tests]
    ran = subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, "LANES_BUILD": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == code, ran.stdout
    assert [words for words in told if words not in ran.stdout] == []
    assert ("UNSTABLE" in ran.stdout) is (code == 0)


@table(
    ("cases", "seconds", "told"),
    [
        (3, 30.0, []),
        (4, 30.0, ["sqlite: tests/web has 4 cases; tests/budget.toml allows 3"]),
        (3, 81.0, ["sqlite: tests/web took 81 s; its share of this run is 30 s"]),
        (3, 79.0, []),
    ],
)
def test_a_folder_that_grows_is_named_in_one_line(cases: int, seconds: float, told: list[str]) -> None:
    as_slow_as_ever = {f"tests/{name}/test_a.py::test": {"seconds": 10.0} for name in ("access", "api", "kernel")}
    grown = {f"tests/web/test_a.py::test[{number}]": {"seconds": seconds / cases} for number in range(cases)}
    allowed = {
        "tests/access": [1, 10.0],
        "tests/api": [1, 10.0],
        "tests/kernel": [1, 10.0],
        "tests/web": [3, 30.0],
    }
    assert over_budget("sqlite", as_slow_as_ever | grown, allowed) == told
