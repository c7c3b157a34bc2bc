"""Store files, read them, delete them.

Each part is written and deleted in a transaction of its own, so that no write waits longer than for one part. What a
process that died left half written has no hash: nobody reads it, and it expires as every file does.
"""

import hashlib
import secrets
from collections.abc import Iterable, Iterator
from datetime import datetime

from django.utils.translation import gettext as _

from minara_site.kernel.errors import Gone, Invalid
from minara_site.kernel.files.models import StoredFile, StoredPart

MIB = PART_BYTES = 1024 * 1024


def store_file(
    chunks: Iterable[bytes],
    *,
    now: datetime,
    expires_at: datetime,
    max_bytes: int | None = None,
) -> StoredFile:
    """Store a file until it expires. Call it outside a transaction.

    Raises Invalid when it is empty or too large; then nothing stays.
    """
    file = StoredFile.objects.create(
        name=secrets.token_hex(16),
        created_at=now,
        expires_at=expires_at,
    )
    try:
        write_parts(file, chunks, max_bytes=max_bytes)
    except BaseException:
        delete_file(file.name)
        raise
    return file


def write_parts(
    file: StoredFile,
    chunks: Iterable[bytes],
    *,
    max_bytes: int | None,
) -> None:
    """Write the parts of a new file, and last that it is whole."""
    digest = hashlib.sha256()
    for number, part in enumerate(parts_of(chunks)):
        file.size_bytes += len(part)
        if max_bytes is not None and file.size_bytes > max_bytes:
            raise Invalid(_("Choose a file of at most %(most)d MiB.") % {"most": max_bytes // MIB})
        digest.update(part)
        StoredPart.objects.create(file=file, number=number, content=part)
    if not file.size_bytes:
        raise Invalid(_("This file is empty."))
    file.sha256 = digest.hexdigest()
    file.save(update_fields=["size_bytes", "sha256"])


def parts_of(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the same bytes in parts of `PART_BYTES`, the last one as long as it is."""
    kept = bytearray()
    for chunk in chunks:
        kept += chunk
        while len(kept) >= PART_BYTES:
            yield bytes(kept[:PART_BYTES])
            del kept[:PART_BYTES]
    if kept:
        yield bytes(kept)


def find_file(name: str) -> StoredFile | None:
    """Return a whole file, None without one."""
    return StoredFile.objects.filter(pk=name).exclude(sha256="").first()


def read_file(name: str) -> Iterator[bytes]:
    """Yield the parts of a file, each read by itself. Raises Gone, also when it is deleted meanwhile."""
    file = find_file(name)
    count = -(-file.size_bytes // PART_BYTES) if file else 0
    for number in range(max(count, 1)):
        part = StoredPart.objects.filter(file=file, number=number).values_list("content", flat=True).first()
        if part is None:
            raise Gone(_("The file is gone. Choose it again."))
        yield bytes(part)


def keep_file(name: str, *, until: datetime) -> None:
    """Let a file expire later, or earlier."""
    StoredFile.objects.filter(pk=name).update(expires_at=until)


def delete_file(name: str) -> None:
    """Delete a file, if it is there."""
    for part in StoredPart.objects.filter(file=name).values_list("pk", flat=True):
        StoredPart.objects.filter(pk=part).delete()
    StoredFile.objects.filter(pk=name).delete()


def delete_expired_files(*, now: datetime) -> int:
    """Delete the files whose time is over; return how many."""
    names = list(StoredFile.objects.filter(expires_at__lte=now).values_list("pk", flat=True))
    for name in names:
        delete_file(name)
    return len(names)
