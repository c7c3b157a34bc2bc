"""The signature of a bundle: one HMAC a file, each standing on its own. Source: S1 (signing), trust R-23.

HMAC-SHA256 over a label, whose memories these are, the length of the relative path, the path and the bytes of the file:
a file that is moved, changed by one bit or brought to somebody else no longer fits. Each line of `signature.txt` is
found by its own shape, so that damage to one line costs one file its signature and no other's. Nothing signs the list:
a line proves itself or counts for nothing.
"""

import hmac
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping

_LABEL = b"minara bundle 2\0"
_LINE = re.compile(rb"(?<![0-9a-f])([0-9a-f]{64})  ([!-~]{1,240}?\.md)")

Signatures = Mapping[str, Collection[bytes]]


def sign_file(key: bytes, owner_id: int, path: str, content: bytes) -> str:
    """Return the HMAC of an owner's file at its place, as 64 hex digits."""
    name = path.encode()
    signed = (
        _LABEL,
        owner_id.to_bytes(8, "big"),
        len(name).to_bytes(4, "big"),
        name,
        content,
    )
    return hmac.digest(key, b"".join(signed), "sha256").hex()


def render_line(path: str, digest: str) -> str:
    """Return the line of a file, as `sha256sum` would set it."""
    return f"{digest}  {path}\n"


def parse_signatures(text: bytes, paths: Collection[str]) -> Signatures:
    """Return the digests that a signature file gives for each of these paths; a path may have several."""
    found: defaultdict[str, set[bytes]] = defaultdict(set)
    for line in _LINE.finditer(text):
        path = line[2].decode()
        if path in paths:
            found[path].add(line[1])
    return dict(found)


def is_signed(
    key: bytes,
    owner_id: int,
    path: str,
    content: bytes,
    digests: Iterable[bytes],
) -> bool:
    """Say whether one of the digests is the HMAC of this owner's file at this place."""
    expected = sign_file(key, owner_id, path, content).encode()
    return any(hmac.compare_digest(expected, digest) for digest in digests)
