"""Secrets that give themselves away by their shape or by the name in front of them.

Names are split into words, so that `apiKey`, `API_KEY` and `x-api-key` are one. In a finance agent `token` and `seed`
are mostly an asset and a number: those two count only when their value is neither.
"""

import hashlib
import re
from enum import Enum, auto
from itertools import pairwise

from minara_site.kernel.core.bip39 import BIP39_ENGLISH

_BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_NAME_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_SECRET_NAME = re.compile(
    "password|passwd|passphrase|passcode|secret|mnemonic|credential|authorization|cookie|"
    "apikey|privatekey|privkey|accesskey|signingkey|encryptionkey|"
    "seedphrase|seedwords|recoveryphrase|backupphrase|xprv"
)
_SECRET_WORDS = frozenset({"pwd", "auth", "jwt", "bearer"})
_TOKEN_OF = frozenset(
    {
        "access",
        "api",
        "auth",
        "bearer",
        "bot",
        "csrf",
        "gateway",
        "id",
        "jwt",
        "oauth",
        "refresh",
        "security",
        "session",
    }
)
_SIDES_OF_A_SWAP = frozenset(
    {"base", "buy", "dst", "fee", "from", "gas", "in", "input", "native", "out", "output", "pay", "quote", "receive"}
    | {"reward", "sell", "src", "to"}
)
_ASSET = re.compile(r"(?:[$A-Za-z0-9._/-]{1,12}|0x[0-9a-fA-F]{40})(?![^\s,;)}\]])")
_NUMBER = re.compile(r"-?[0-9]{1,20}(?![0-9A-Za-z])")

SERVICE_KEY = re.compile(
    r"(?:(?<![A-Za-z0-9])|(?<=\\[nrt]))(?:"
    r"sk[-_](?=[A-Za-z_-]{0,64}[0-9])[A-Za-z0-9_-]{16,}|[pr]k_(?:live|test)_[A-Za-z0-9]{16,}"
    r"|mnr_[a-z0-9]+_[A-Za-z0-9_-]{40,}"
    r"|gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}|glpat-[A-Za-z0-9_-]{20,}"
    r"|A(?:KIA|SIA)[0-9A-Z]{16}|AIza[0-9A-Za-z_-]{30,}|ya29\.[0-9A-Za-z_-]{20,}"
    r"|(?:xox[abeoprs]|xapp)-[A-Za-z0-9-]{10,}|hf_[A-Za-z0-9]{30,}|npm_[A-Za-z0-9]{36}|pypi-[A-Za-z0-9_-]{50,}"
    r"|SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}|(?:whsec|do[opr]_v1|shp(?:at|ca|pa|ss))_[A-Za-z0-9+/=]{20,}"
    r"|(?:gsk_|xai-|pplx-|r8_|lin_api_|ntn_|secret_|sbp_|glsa_|dp\.[a-z]{2}\.)[A-Za-z0-9]{32,}|GOCSPX-[A-Za-z0-9_-]{20,}"
    r"|(?:figd_|hv[sb]\.|sntry[su]_|pscale_[a-z]{2,8}_|ATATT3)[A-Za-z0-9_+/=.-]{32,}"
    r"|dapi[0-9a-f]{32}|PMAK-[0-9a-f]{24}-[0-9a-f]{20,}|NRAK-[A-Z0-9]{27}|AGE-SECRET-KEY-1[A-Z0-9]{50,}"
    r"|(?:nsec1|suiprivkey1)[02-9ac-hj-np-z]{50,}|S[A-D][A-Z2-7]{54}(?![A-Za-z0-9])"
    r"|(?:alchemy\.com|infura\.io)/(?:ws/)?v[0-9]/[A-Za-z0-9_-]{24,}|quiknode\.pro/[0-9a-f]{32,}"
    r"|\[\s?(?:[0-9]{1,3},\s?){63}[0-9]{1,3}\s?\]"  # the 64 bytes of a key of Solana, as its tools store it
    rf"|ed25519:[{_BASE58}]{{86,88}}"
    r"|discord(?:app)?\.com/api/webhooks/[0-9]{15,20}/[A-Za-z0-9_-]{40,}"
    r"|[0-9]{8,10}:(?:AA[A-Za-z0-9_-]{32,33}|(?![T13][1-9A-HJ-NP-Za-km-z]{33})[A-Za-z0-9_-]{34}(?![A-Za-z0-9_-]))"
    r"|key-[0-9a-f]{32}(?![0-9A-Za-z])|HRKU-[A-Za-z0-9_-]{20,}|pat[A-Za-z0-9]{14}\.[0-9a-f]{64}|fw_[A-Za-z0-9]{20,}"
    r"|(?:FlyV1 )?fm[12][ar]?_[A-Za-z0-9+/=_-]{20,}(?:,fm[12][ar]?_[A-Za-z0-9+/=_-]+)*"
    r"|(?:(?<=:_authToken=)|(?<=:_authToken= ))(?:npm_\S+|[A-Fa-f0-9-]{36})"
    rf"|[xyztuv]prv[{_BASE58}]{{100,}}"
    r"|eyJ[A-Za-z0-9_-]{6,1000}+\.[A-Za-z0-9_-]{6,}(?:\.[A-Za-z0-9_-]*)?"
    r")"
)
_PEM_NAME = r"[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
PEM_KEY = re.compile(rf"-----BEGIN {_PEM_NAME}.*?(?:-----END {_PEM_NAME}|\Z)", re.DOTALL)
WALLET_IMPORT_KEY = re.compile(rf"(?<![{_BASE58}])[569KLcQT][{_BASE58}]{{50,51}}(?![{_BASE58}])")
EXTENDED_KEY = re.compile(rf"(?<![{_BASE58}])[xyztuv]prv[{_BASE58}]{{107}}(?![{_BASE58}])")
BARE_KEY = re.compile(
    rf"(?<![0-9A-Za-z])(?:(?:0x)?[0-9a-fA-F]{{64}}|[{_BASE58}]{{86,88}}|[A-Za-z0-9+/]{{86}}==)(?![0-9A-Za-z])"
)
_BEFORE_KEY = re.compile(
    r"(?P<public>public[\s_-]*key|pubkey|tx|transaction|hash|block|signature|address|contract"
    r"|公钥|公鑰|交易|哈希|区块|區塊|签名|簽名|地址|合约|合約)"
    r"|(?P<secret>private|priv|secret|seed|mnemonic|key|\bpk\b|私钥|私鑰|密钥|密鑰|助记词|助記詞)",
    re.IGNORECASE,
)
_KEY_CONTEXT_CHARS = 48
_WORDS = frozenset(BIP39_ENGLISH)
_LETTERS = re.compile("[A-Za-z]+")
MIN_PHRASE_WORDS = 12
_MAX_PHRASE_GAP = 16


class NameKind(Enum):
    """What a name says about its value."""

    SECRET = auto()
    TOKEN = auto()
    SEED = auto()
    PLAIN = auto()


def kind_of_name(name: str) -> NameKind:
    """Return what a key, header, flag or query name says about the value beside it."""
    words = [word.lower() for word in _NAME_WORDS.findall(name)]
    if _SECRET_NAME.search("".join(words)) or _SECRET_WORDS.intersection(words):
        return NameKind.SECRET
    if any(second.startswith("token") and first in _TOKEN_OF for first, second in pairwise(words)):
        return NameKind.SECRET
    if words[-1:] == ["token"] and not _SIDES_OF_A_SWAP.intersection(words):
        return NameKind.TOKEN
    return NameKind.SEED if "seed" in words else NameKind.PLAIN


def is_secret_value(kind: NameKind, value: str) -> bool:
    """Say whether a text beside a name of this kind is a secret."""
    if kind is NameKind.TOKEN:
        return _ASSET.match(value) is None
    if kind is NameKind.SEED:
        return _NUMBER.match(value) is None
    return kind is NameKind.SECRET


def is_key_after(before: str) -> bool:
    """Say whether 64 hex digits, or a key in base58, that follow this text are a private key and not a hash."""
    hints = [hint.lastgroup for hint in _BEFORE_KEY.finditer(before[-_KEY_CONTEXT_CHARS:])]
    return hints[-1:] == ["secret"]


def is_wallet_import_key(text: str) -> bool:
    """Say whether the base58 text carries checksum and version of a private key of Bitcoin, Litecoin or Dogecoin."""
    body = _base58_body(text, 40)
    return body is not None and body[:1] in {b"\x80", b"\xef", b"\xb0", b"\x9e"}


def is_extended_key(text: str) -> bool:
    """Say whether the base58 text carries the checksum of an extended private key (BIP-32)."""
    return _base58_body(text, 82) is not None


def _base58_body(text: str, most_bytes: int) -> bytes | None:
    """Return what the base58 text says, or None when its checksum is wrong or it is longer."""
    number = 0
    for char in text:
        number = number * 58 + _BASE58.index(char)
    if number.bit_length() > most_bytes * 8:
        return None
    raw = number.to_bytes(most_bytes, "big").lstrip(b"\0")
    body, checksum = raw[:-4], raw[-4:]
    return body if hashlib.sha256(hashlib.sha256(body).digest()).digest()[:4] == checksum else None


def find_phrases(text: str) -> list[tuple[int, int]]:
    """Return start and end of each run of 12 or more BIP-39 words, numbered, listed or on lines of their own.

    No checksum is asked for: over the test corpora ordinary prose never has more than 6 such words in a row.
    """
    phrases: list[tuple[int, int]] = []
    start = end = count = 0
    for word in _LETTERS.finditer(text):
        known = word.group().lower() in _WORDS
        if known and count and word.start() - end <= _MAX_PHRASE_GAP:
            count, end = count + 1, word.end()
            continue
        if count >= MIN_PHRASE_WORDS:
            phrases.append((start, end))
        start, end, count = word.start(), word.end(), int(known)
    if count >= MIN_PHRASE_WORDS:
        phrases.append((start, end))
    return phrases
