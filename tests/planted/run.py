"""Plants each fault of `faults.toml` in a copy of the project and says which test catches it.

A fault is caught by the first test that fails with it and passes again without it. A fault with which the project does
not start shows nothing and counts as not caught. Faults of PostgreSQL need a server, at DATABASE_URL or on this machine.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from dataclasses import dataclass
from pathlib import Path

import psycopg

PROJECT = Path(__file__).resolve().parents[2]
FOLDER = Path(__file__).resolve().parent.relative_to(PROJECT)
POSTGRESQL = "postgres://postgres@127.0.0.1:5432/postgres"
QUICK = ("-q", "-rfE", "-m", "not soak")
FAILED_TEST = re.compile(r"^(?:FAILED|ERROR) (tests/\S+\.py::.+?)(?: - .*)?$", re.MULTILINE)
MAY_GO_ON = (0, 4, 5)  # all passed; a named test is gone, or nothing starts; no test was chosen


@dataclass(frozen=True, slots=True)
class Fault:
    """One slip: `old`, which stands once in `file`, becomes `new`. `tests` is where it should show first."""

    name: str
    promise: str
    file: str
    old: str
    new: str
    tests: list[str]
    engine: str = "sqlite"


def load_faults() -> list[Fault]:
    """Return the faults in the order of the file."""
    text = (PROJECT / FOLDER / "faults.toml").read_text("utf-8")
    return [Fault(**fault) for fault in tomllib.loads(text)["fault"]]


def copy_project(root: Path) -> None:
    """Copy the working tree as git knows it, without this folder, and lay what stands beside the project beside it."""
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listed, cwd=PROJECT, check=True, capture_output=True, text=True).stdout.split("\0")
    for name in filter(None, names):
        source, target = PROJECT / name, root / name
        if source.is_file() and FOLDER not in Path(name).parents:
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target)
    beside = PROJECT.parent / "shared"
    if beside.exists():
        (root.parent / beside.name).symlink_to(beside.resolve())


def python(root: Path, *arguments: str, engine: str = "sqlite") -> subprocess.CompletedProcess[str]:
    """Run Python on the copy."""
    environment = {**os.environ, "PYTHONPATH": str(root), "PYTHONDONTWRITEBYTECODE": "1"}
    url = environment.pop("DATABASE_URL", "")
    if engine == "postgresql":
        environment["DATABASE_URL"] = url or POSTGRESQL
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=root, env=environment, check=False, capture_output=True, text=True)


def check_copy(root: Path) -> None:
    """Raise RuntimeError unless Python finds the modules of the copy, whatever is installed."""
    found = python(root, "-c", "import memory_app; print(memory_app.__file__)").stdout.strip()
    if not found.startswith(str(root)):
        raise RuntimeError(f"The copy is not what is imported, but {found}.")


def find_catch(fault: Fault, root: Path) -> tuple[str, bool]:
    """Return the test that catches a fault, or why none does, and whether one did."""
    path = root / fault.file
    sound = path.read_text("utf-8")
    if sound.count(fault.old) != 1:
        return f"its text stands {sound.count(fault.old)} times in {fault.file}", False
    path.write_text(sound.replace(fault.old, fault.new), "utf-8")
    try:
        for where in (["-n", "0", *fault.tests], ["-n", "2"]):
            ran = python(root, "-m", "pytest", *QUICK, "-x", *where, engine=fault.engine)
            failed = FAILED_TEST.search(ran.stdout)
            if failed or ran.returncode not in MAY_GO_ON:
                break
    finally:
        path.write_text(sound, "utf-8")
    if failed is None:
        return "NOT CAUGHT" if ran.returncode == 0 else "DOES NOT START", False
    test = failed[1]
    again = python(root, "-m", "pytest", *QUICK, "-n", "0", test, engine=fault.engine)
    return (test, True) if again.returncode == 0 else (f"FAILS WITHOUT THE FAULT TOO: {test}", False)


def drop_databases(root: Path) -> None:
    """Remove what tests of the copy keep on the server for the next run."""
    kept = [path.name.replace("-", "_") for path in (root / "build/test-databases").glob("postgresql-*")]
    if kept:
        with psycopg.connect(os.environ.get("DATABASE_URL", POSTGRESQL), autocommit=True) as server:
            for name in kept:
                server.execute(f"DROP DATABASE IF EXISTS minara_{name} WITH (FORCE)")


def main() -> int:
    """Run the faults that were asked for; 0 when each is caught."""
    parser = argparse.ArgumentParser(prog="python -m tests.planted", description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", metavar="TEXT", help="faults whose name or promise contains it")
    wanted = parser.parse_args().only.casefold()
    faults = [fault for fault in load_faults() if wanted in f"{fault.name} {fault.promise}".casefold()]
    caught = 0
    with tempfile.TemporaryDirectory(prefix="minara-planted-") as folder:
        root = Path(folder).resolve() / "project"
        copy_project(root)
        check_copy(root)
        for fault in faults:
            begun = time.monotonic()
            told, is_caught = find_catch(fault, root)
            caught += is_caught
            print(f"{fault.name} [{fault.promise}]: {told}, {time.monotonic() - begun:.0f} s", flush=True)
        drop_databases(root)
    print(f"{caught} of {len(faults)} planted faults caught")
    return 0 if caught == len(faults) else 1
