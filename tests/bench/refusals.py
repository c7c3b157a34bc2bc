"""How soon a hostile upload is refused, and in how much memory: every zip file that no export gives (trust W-17)."""

import resource
from pathlib import Path

from memory_app.bundle.adapters import BundleRefused, read_bundle
from memory_app.bundle.adapters.workspaces import write_workspace
from memory_app.bundle.core.signature import parse_signatures
from tests.bench.figures import Figure
from tests.bench.guard import worked
from tests.kit.shared import corpus
from tests.memory_app.bundle.hostile_zips import HOSTILE
from tests.memory_app.bundle.wizard import packed

MAX_SECONDS, MAX_MIB = 2.0, 200
DIGITS, MAX_DIGITS_MS = 4_000_000, 200
FEW = ("parent", "ratio", "damaged")


def run(scratch: Path, *, small: bool = False) -> list[Figure]:
    """Read each of them as a bundle and as a workspace, and a list of signatures that is nothing but digits."""
    paths = write_all(scratch, FEW if small else tuple(HOSTILE))
    if not small:
        paths |= write_corpus(scratch)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    seconds = {name: worked(lambda path=path: refuse(path)) for name, path in paths.items()}
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    slowest = max(seconds, key=lambda name: seconds[name])
    digits = worked(lambda: parse_signatures(b"a" * DIGITS, {"memories/lesson/1.md": b""})) * 1000
    return [
        Figure(
            name=f"slowest of {len(paths)} hostile bundles, read both ways",
            value=seconds[slowest],
            unit="s",
            bound=f"below {MAX_SECONDS:.0f}",
            ok=seconds[slowest] < MAX_SECONDS,
            reference=slowest,
        ),
        Figure(
            name="peak memory that all of them take",
            value=grown,
            unit="MiB",
            bound=f"below {MAX_MIB}",
            ok=grown < MAX_MIB,
        ),
        Figure(
            name=f"a list of signatures of {DIGITS:,} digits without a line end",
            value=digits,
            unit="ms",
            bound=f"below {MAX_DIGITS_MS}",
            ok=digits < MAX_DIGITS_MS,
        ),
    ]


def write_all(scratch: Path, names: tuple[str, ...]) -> dict[str, Path]:
    """Write the hostile zip files."""
    paths = {}
    for name in names:
        paths[name] = scratch / f"{name}.zip"
        paths[name].write_bytes(HOSTILE[name]())
    return paths


def write_corpus(scratch: Path) -> dict[str, Path]:
    """Write every member of the corpus as the one file of a zip."""
    paths = {}
    for number, row in enumerate(corpus("import_bundles")):
        path = scratch / f"corpus{number}.zip"
        try:
            path.write_bytes(packed({row["name"]: row["body"]}))
        except ValueError:  # a name that no zip carries
            continue
        paths[f"{row['name'][:40]!r} of the corpus"] = path
    return paths


def refuse(path: Path) -> None:
    """Read a zip file as a bundle and as a workspace, whatever comes of it."""
    for read in (
        lambda: read_bundle(path),
        lambda: write_workspace(path, path.name, laid_out(path), is_zip=True),
    ):
        try:
            read()
        except BundleRefused:
            continue


def laid_out(path: Path) -> Path:
    """Return a new folder for what is laid out."""
    folder = path.with_suffix(".d")
    folder.mkdir()
    return folder
