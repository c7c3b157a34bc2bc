"""An uploaded workspace: a zip of notes, or one note alone, laid out as the importers read it.

A zip may hold anything beside the notes, under any name that stays in it; none of that is read.
"""

import re
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

from memory_app.bundle.adapters.archive import check_paths, open_archive
from memory_app.bundle.adapters.bundles import check_names

NOTE = re.compile(r"\d{4}-\d{2}-\d{2}(?:-[\w-]+)?\.md")
NAMES = ("MEMORY.md", "USER.md")


def write_workspace(
    upload: Path,
    given_name: str,
    folder: Path,
    *,
    is_zip: bool,
) -> int:
    """Write the notes of an upload into a folder and return how many other files it holds.

    Raises BundleRefused for a hostile zip, before any is written.
    """
    if not is_zip:
        write(
            folder,
            place_of(PurePosixPath(given_name)) or NAMES[0],
            upload.read_bytes(),
        )
        return 0
    bundle = open_archive(upload, check=check_paths)
    places = choose_workspace(bundle.names)
    check_names(places.values())
    for name, place in places.items():
        write(folder, place, bundle.read(name))
    return len(bundle.names) - len(places)


def choose_workspace(names: Iterable[str]) -> dict[str, str]:
    """Return the notes of one workspace with where each belongs: of the shallowest, of several the first by name."""
    workspaces: dict[tuple[bool, int, str], dict[str, str]] = defaultdict(dict)
    for name in names:
        path = PurePosixPath(name)
        if place := place_of(path):
            is_loose = not path.match(place)  # daily notes in no folder `memory` come last
            root = path.parent if is_loose else path.parents[place.count("/")]
            workspaces[is_loose, len(root.parts), str(root)][name] = place
    return workspaces[min(workspaces)] if workspaces else {}


def place_of(path: PurePosixPath) -> str:
    """Return where a note belongs in its workspace, empty for what is none."""
    if path.name in NAMES:
        return path.name
    return f"memory/{path.name}" if NOTE.fullmatch(path.name) else ""


def write(folder: Path, place: str, content: bytes) -> None:
    """Write one note."""
    target = folder / place
    target.parent.mkdir(exist_ok=True)
    target.write_bytes(content)
