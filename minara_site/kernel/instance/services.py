"""The key of this instance. It signs exports and never leaves the database; only its fingerprint does."""

import hashlib
import secrets

import structlog
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext as _

from minara_site.kernel.db import is_sqlite
from minara_site.kernel.errors import Conflict
from minara_site.kernel.instance.models import InstanceMeta

HMAC_KEY, SECRET_KEY_MARK = "hmac_key", "secret_key_mark"
log = structlog.get_logger(__name__)
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


def check_secret_key(*, is_new: bool = False) -> None:
    """Raise Conflict unless this process signs as all machines on this server do; `is_new` lets its key count from now.

    The first start says which key that is. On SQLite there is one machine, whose key may change.
    """
    if is_sqlite():
        return
    mark = salted_hmac("minara.instance", SECRET_KEY_MARK, algorithm="sha256").hexdigest()
    row, _is_first = InstanceMeta.objects.get_or_create(key=SECRET_KEY_MARK, defaults={"value": mark})
    if is_new and row.value != mark:
        InstanceMeta.objects.filter(pk=row.pk).update(value=mark)
        log.warning("secret_key_changed")
    elif row.value != mark:
        raise Conflict(
            _(
                "This machine has another secret key than the database was used with: copy the file secret_key from "
                "the data folder of the first machine, or set MINARA_SECRET_KEY to the same value on all; to change it "
                "on purpose, run minara up --new-secret-key, and all people sign in again."
            ),
            code="secret_key",
        )


def fingerprint(key: bytes) -> str:
    """Return what stands for a key in the open: the first 16 hex digits of its SHA-256 (S1)."""
    return hashlib.sha256(key).hexdigest()[:ID_CHARS]
