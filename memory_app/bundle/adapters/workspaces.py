"""An uploaded workspace: a zip of notes, or one note alone, laid out as the importers read it."""

import re
from pathlib import Path, PurePosixPath

from memory_app.bundle.adapters import read_bundle

NOTE = re.compile(r"\d{4}-\d{2}-\d{2}(?:-[\w-]+)?\.md")
NAMES = ("MEMORY.md", "USER.md")


def lay_out(upload: Path, given_name: str, folder: Path, *, is_zip: bool) -> None:
    """Write the notes of an upload into a folder. Raises BundleRefused for a hostile zip, before any is written."""
    if not is_zip:
        write(folder, place_of(PurePosixPath(given_name)) or NAMES[0], upload.read_bytes())
        return
    bundle = read_bundle(upload)
    for name in bundle.names:
        place = place_of(PurePosixPath(name))
        if place and not (folder / place).exists():
            write(folder, place, bundle.read(name))


def place_of(path: PurePosixPath) -> str:
    """Return where a note belongs, empty for what is none; the folders around a workspace do not matter."""
    if path.name in NAMES:
        return path.name
    return f"memory/{path.name}" if NOTE.fullmatch(path.name) else ""


def write(folder: Path, place: str, content: bytes) -> None:
    """Write one note."""
    target = folder / place
    target.parent.mkdir(exist_ok=True)
    target.write_bytes(content)
