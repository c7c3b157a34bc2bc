"""Zip files that nobody exports, for the tests that refuse them and the bench that measures how."""

import io
import stat
import warnings
from collections.abc import Callable
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from tests.memory_app.bundle.wizard import packed

NOTE = "---\nschema_version: 1\n---\nx\n"


def special(name: str, mode: int) -> bytes:
    """Return a zip with one member that is no file."""
    stream = io.BytesIO()
    with ZipFile(stream, "w") as archive:
        info = ZipInfo(name)
        info.external_attr = mode << 16
        archive.writestr(info, "/etc/passwd")
    return stream.getvalue()


def twice(*names: str) -> bytes:
    """Return a zip with these members, though one be there already."""
    stream = io.BytesIO()
    with warnings.catch_warnings(), ZipFile(stream, "w", ZIP_DEFLATED) as archive:
        warnings.filterwarnings("ignore", "Duplicate name")
        for name in names:
            archive.writestr(name, NOTE)
    return stream.getvalue()


def damaged() -> bytes:
    """Return a zip one byte of which was turned over."""
    content = bytearray(packed({"index.md": NOTE * 50}))
    content[60] ^= 0xFF
    return bytes(content)


def encrypted() -> bytes:
    """Return a zip that says that its member is encrypted."""
    content = bytearray(packed({"index.md": NOTE}))
    content[content.index(b"PK\x01\x02") + 8] |= 1
    content[6] |= 1
    return bytes(content)


HOSTILE: dict[str, Callable[[], bytes]] = {
    "parent": lambda: packed({"../../evil.md": NOTE}),
    "absolute": lambda: packed({"/etc/cron.d/evil.md": NOTE}),
    "backslash": lambda: packed({"..\\evil.md": NOTE}),
    "symlink": lambda: special("memories/link.md", stat.S_IFLNK | 0o777),
    "fifo": lambda: special("memories/pipe.md", stat.S_IFIFO | 0o600),
    "device": lambda: packed({"memories/CON.md": NOTE}),
    "twice": lambda: twice("memories/lesson/1.md", "memories/lesson/1.md"),
    "capitals": lambda: twice("memories/lesson/a.md", "memories/lesson/A.md"),
    "too many": lambda: packed({f"memories/lesson/{n}.md": b"" for n in range(10_001)}),
    "ratio": lambda: packed({"memories/lesson/1.md": b" " * 20_000_000}),
    "nested": lambda: packed({"inner.zip": packed({"a.md": NOTE})}),
    "encrypted": encrypted,
    "damaged": damaged,
    "cut": lambda: packed({"index.md": NOTE * 50})[:-30],
    "no zip": lambda: b"PK\x03\x04" + b"\0" * 100,
}
