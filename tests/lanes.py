"""Runs the tests in lanes side by side: what waits for processes and for Chromium beside what computes.

`python -m tests.lanes computing waiting` is `make test`; CI runs every lane, repeats what failed once (`--again`), and
compares cases and seconds with tests/budget.toml (`--budget`). The lanes end as JSON in build/lanes.
"""

import argparse
import json
import os
import subprocess
import sys
import time
import tomllib
from collections import Counter
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path
from statistics import median
from typing import Any

from tests.bench.figures import reference_loop

ROOT = Path(__file__).resolve().parents[1]
BUILD = Path(os.environ.get("LANES_BUILD", ROOT / "build/lanes"))
BIN = Path(sys.executable).parent
CHROMIUM = Path(os.environ.get("CHROMIUM", "/usr/bin/chromium"))
SERVER = "postgres://postgres@127.0.0.1:5432/postgres"
AT_ONCE = 2  # lanes on a machine of two cores
MAX_AGAIN = 5  # failed tests that may have failed by chance
SOME_FAILED, NO_TESTS = 1, 5  # of pytest's exit codes
SLOWER, MORE_SECONDS = 2.0, 20.0  # what a folder may take more than its share of a run


@dataclass
class Lane:
    """One command: pytest with these marks, or another one. `budget` names its part of the budget."""

    marks: str = ""
    processes: int = 0
    budget: str = ""
    command: tuple[str, ...] = ()
    folder: str = "tests"
    within: tuple[str, ...] = ()
    environment: dict[str, str] = field(default_factory=dict)


def waiting() -> Lane:
    """Return the lane of processes and Chromium, which is left out loudly where it is missing."""
    marks = "browser or processes"
    if not CHROMIUM.exists() and os.environ.get("CI") != "true":
        print(f"SKIPPED: the browser tests, because {CHROMIUM} is missing")
        marks = "processes and not browser"
    return Lane(marks, budget="sqlite")


LANES = {
    "computing": Lane("not browser and not processes", processes=2, budget="sqlite"),
    "waiting": waiting(),
    "postgresql": Lane("database", processes=2, budget="postgresql", environment={"DATABASE_URL": SERVER}),
    "checks": Lane(command=("make", "-j2", "check")),
    "vectors": Lane(
        "database and not processes", folder="tests/memory_app/embeddings", within=(sys.executable, ".ci/with-pgvector")
    ),
    "bench": Lane(command=(sys.executable, "-m", "tests.bench", "all", "--small")),
}


@dataclass
class Run:
    """A lane that runs or ran."""

    name: str
    process: "subprocess.Popen[bytes]"
    begun: float
    seconds: float = 0.0

    @property
    def log(self) -> Path:
        """Return the file of its output."""
        return BUILD / f"{self.name}.log"

    @property
    def report(self) -> dict[str, Any]:
        """Return what its tests came to: outcome, seconds and folder by node id."""
        path = BUILD / f"{self.name}.json"
        return dict(json.loads(path.read_text())) if path.exists() else {}

    @property
    def failed(self) -> list[str]:
        """Return the tests that failed."""
        return [node for node, test in self.report.items() if test["outcome"] == "failed"]

    @property
    def may_be_chance(self) -> bool:
        """Say whether tests failed and nothing else did, such as a module that cannot be read."""
        is_whole = all(test["outcome"] != "broken" for test in self.report.values())
        return bool(self.failed) and is_whole and self.process.returncode == SOME_FAILED


def start(name: str, tests: list[str], arguments: list[str], *, processes: int | None = None) -> Run:
    """Start a lane, or some of its tests."""
    lane = LANES[name]
    label = f"{name}-again" if tests else name
    (BUILD / f"{label}.json").unlink(missing_ok=True)
    command = [*lane.command]
    if not command:
        count = lane.processes if processes is None else processes
        command = [
            *lane.within,
            str(BIN / "pytest"),
            "-q",
            "--failed-first",
            "-n",
            str(count),
            "--dist",
            "worksteal",  # the slowest files come last, and one process would be left alone with them
            "-m",
            f"({lane.marks}) and not soak",
        ]
        command += ["-o", f"cache_dir={BUILD / f'{name}-cache'}", f"--report={BUILD / f'{label}.json'}"]
        command += [*arguments, *(tests or ([lane.folder] if not has_paths(arguments) else []))]
    environment = {key: value for key, value in os.environ.items() if key != "DATABASE_URL"} | lane.environment
    with (BUILD / f"{label}.log").open("wb") as log:
        process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=log, stderr=subprocess.STDOUT)
    return Run(label, process, time.monotonic())


def has_paths(arguments: list[str]) -> bool:
    """Say whether pytest's arguments name tests."""
    return any(each.startswith("tests") for each in arguments)


def run_all(names: list[str], arguments: list[str]) -> list[Run]:
    """Run the lanes, at most two at once in this order; say how each ended as it ends."""
    waiting, running, ended = [*names], [], []
    while waiting or running:
        while waiting and len(running) < AT_ONCE:
            running.append(start(waiting.pop(0), [], arguments))
        for run in [run for run in running if run.process.poll() is not None]:
            run.seconds = time.monotonic() - run.begun
            running.remove(run)
            ended.append(run)
            told = f"{len(run.report)} cases" if run.report else " ".join(LANES[run.name].command)
            print(f"{run.name:<12} {run.seconds:6.0f} s  {verdict(run)}  {told}", flush=True)
        time.sleep(0.2)
    return ended


def verdict(run: Run) -> str:
    """Return how a lane ended, in a word."""
    code = run.process.returncode
    return "no tests" if code == NO_TESTS else "passed" if code == 0 else "FAILED"


def run_again(bad: list[Run]) -> tuple[list[str], bool]:
    """Run what failed once more, alone, when it is little; return those tests, and whether all pass now."""
    names = [node for run in bad for node in run.failed]
    if len(names) > MAX_AGAIN or not all(run.may_be_chance for run in bad):
        return [], False
    for run in bad:
        again = start(run.name, run.failed, [], processes=0)
        if again.process.wait() != 0:
            print(again.log.read_text()[-20_000:])
            return names, False
    return names, True


def folder_of(node: str) -> str:
    """Return the folder that a test counts for."""
    return "/".join(node.split("::", maxsplit=1)[0].split("/")[:-1][:3])


def tests_of(ended: list[Run], part: str) -> dict[str, Any]:
    """Return what the tests of the lanes of one part of the budget came to."""
    return {node: test for run in ended if LANES[run.name].budget == part for node, test in run.report.items()}


def over_budget(part: str, tests: dict[str, Any], allowed: dict[str, list[float]]) -> list[str]:
    """Return a line for each folder with more cases than its budget, or slower than the rest of this run."""
    lines = []
    cases, seconds = count_folders(tests)
    shares = [seconds[name] / allowed[name][1] for name in cases if name in allowed and allowed[name][1] >= 1]
    pace = max(median(shares or [1.0]), 1.0)  # how much slower this machine is than the budget's
    for name in cases:
        most, most_seconds = allowed.get(name, (0, 0.0))
        if cases[name] > most:
            lines.append(f"{part}: {name} has {cases[name]} cases; tests/budget.toml allows {most:g}")
        if seconds[name] > pace * most_seconds * SLOWER + MORE_SECONDS:
            lines.append(
                f"{part}: {name} took {seconds[name]:.0f} s; its share of this run is {pace * most_seconds:.0f} s"
            )
    return lines


def count_folders(tests: dict[str, Any]) -> tuple[Counter[str], Counter[str]]:
    """Return cases and seconds by folder."""
    cases: Counter[str] = Counter()
    seconds: Counter[str] = Counter()
    for node, test in tests.items():
        cases[folder_of(node)] += 1
        seconds[folder_of(node)] += test["seconds"]
    return cases, seconds


def write_budget(ended: list[Run]) -> None:
    """Write what this run took as the budget, which is a decision that a reader sees in the change."""
    lines = [
        "# Cases and seconds that each folder may take: CI fails when one grows. Raise a line only with a reason.\n"
    ]
    for part in ("sqlite", "postgresql"):
        cases, seconds = count_folders(tests_of(ended, part))
        lines += [
            f"\n[{part}]\n",
            *(f'"{name}" = [{cases[name]}, {max(seconds[name], 0.1):.1f}]\n' for name in sorted(cases)),
        ]
    (ROOT / "tests/budget.toml").write_text("".join(lines))


def main() -> int:
    """Run the lanes and say what came of them; the last line counts tests."""
    parser = argparse.ArgumentParser(
        prog="tests.lanes",
        usage="%(prog)s [lane ...] [options] [pytest's arguments]",
        allow_abbrev=False,
    )
    parser.add_argument("--again", action="store_true", help="run what failed once more, at most five tests")
    parser.add_argument("--budget", choices=["check", "write"])
    words = sys.argv[1:]
    names = [*takewhile(LANES.__contains__, words)]
    arguments, for_pytest = parser.parse_known_args(words[len(names) :])
    BUILD.mkdir(parents=True, exist_ok=True)
    begun = time.monotonic()
    loop = reference_loop()
    ended = run_all(names or ["computing", "waiting"], for_pytest)
    good = {0} if arguments.budget else {0, NO_TESTS}  # the whole suite has tests in every lane
    bad = [run for run in ended if run.process.returncode not in good]
    for run in bad:
        print(f"\n== {run.name}\n{run.log.read_text()[-20_000:]}")
    unstable, ok = run_again(bad) if bad and arguments.again else ([], not bad)
    faults = []
    if arguments.budget == "check":
        budget = tomllib.loads((ROOT / "tests/budget.toml").read_text())
        faults = [line for part in budget for line in over_budget(part, tests_of(ended, part), budget[part])]
    elif arguments.budget == "write":
        write_budget(ended)
    print(f"\nreference loop {loop:.0f} ms before, {reference_loop():.0f} ms after; {time.monotonic() - begun:.0f} s")
    print("\n".join(f"OVER BUDGET {line}" for line in faults))
    if unstable and ok:
        print("UNSTABLE: failed, and passed alone. Mend these first:\n" + "\n".join(unstable))
    outcomes = Counter(test["outcome"] for run in ended for test in run.report.values())
    failed = 0 if ok else outcomes["failed"] + outcomes["broken"]
    print(f"{outcomes['passed'] + len(unstable) * ok} passed, {failed} failed")
    return 0 if ok and not faults else 1


if __name__ == "__main__":
    sys.exit(main())
