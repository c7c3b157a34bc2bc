"""Zip files that nobody exports, for the tests that refuse them and the bench that measures how."""

import io
import stat
import warnings
from collections.abc import Callable
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from tests.memory_app.bundle.wizard import packed

NOTE = "---\nschema_version: 1\n---\nx\n"


Build = Callable[[ZipFile], object]


def no_file(name: str, kind: int) -> Build:
    """Add a member that is no file."""
    info = ZipInfo(name)
    info.create_system, info.external_attr = 3, (kind | 0o777) << 16
    return lambda archive: archive.writestr(info, b"/etc/passwd")


def encrypted_member(archive: ZipFile) -> None:
    """Add a member that says that it is encrypted."""
    archive.writestr("other.txt", b"x")
    archive.infolist()[-1].flag_bits |= 1


def wrong_checksum(archive: ZipFile) -> None:
    """Add a member whose checksum is another's."""
    archive.writestr("other.txt", b"x")
    archive.infolist()[-1].CRC ^= 1


def built(build: Build) -> bytes:
    """Return a zip of one such member."""
    stream = io.BytesIO()
    with ZipFile(stream, "w") as archive:
        build(archive)
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


HOSTILE: dict[str, Callable[[], bytes]] = {
    "parent": lambda: packed({"../../evil.md": NOTE}),
    "absolute": lambda: packed({"/etc/cron.d/evil.md": NOTE}),
    "backslash": lambda: packed({"..\\evil.md": NOTE}),
    "symlink": lambda: built(no_file("memories/link.md", stat.S_IFLNK)),
    "fifo": lambda: built(no_file("memories/pipe.md", stat.S_IFIFO)),
    "device": lambda: packed({"memories/CON.md": NOTE}),
    "twice": lambda: twice("memories/lesson/1.md", "memories/lesson/1.md"),
    "capitals": lambda: twice("memories/lesson/a.md", "memories/lesson/A.md"),
    "too many": lambda: packed({f"memories/lesson/{n}.md": b"" for n in range(10_001)}),
    "ratio": lambda: packed({"memories/lesson/1.md": b" " * 20_000_000}),
    "nested": lambda: packed({"inner.zip": packed({"a.md": NOTE})}),
    "encrypted": lambda: built(encrypted_member),
    "damaged": damaged,
    "cut": lambda: packed({"index.md": NOTE * 50})[:-30],
    "no zip": lambda: b"PK\x03\x04" + b"\0" * 100,
}
