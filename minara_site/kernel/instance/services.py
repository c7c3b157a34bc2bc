"""The key of this instance. It signs exports and never leaves the database; only its fingerprint does."""

import hashlib
import secrets

from minara_site.kernel.instance.models import InstanceMeta

HMAC_KEY = "hmac_key"
ID_CHARS = 16


def get_hmac_key() -> bytes:
    """Return the 32 bytes that sign exports, made at the first call; of several processes the first one wins."""
    row, _is_new = InstanceMeta.objects.get_or_create(key=HMAC_KEY, defaults={"value": secrets.token_hex(32)})
    return bytes.fromhex(row.value)


def find_hmac_key() -> bytes | None:
    """Return the key if there is one; looking for it makes none."""
    row = InstanceMeta.objects.filter(key=HMAC_KEY).first()
    return bytes.fromhex(row.value) if row else None


def get_instance_id() -> str:
    """Return the fingerprint of the key, made at the first call."""
    return fingerprint(get_hmac_key())


def fingerprint(key: bytes) -> str:
    """Return what stands for a key in the open: the first 16 hex digits of its SHA-256 (S1)."""
    return hashlib.sha256(key).hexdigest()[:ID_CHARS]
