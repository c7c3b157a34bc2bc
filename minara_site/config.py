"""Every environment variable, once: its type, unit, default and reader.

`settings.MINARA` holds the one `Config`. A value of the wrong type stops the start with one line that names
the variable (`ConfigError`). `.env.example` is the user's copy of this list; a test keeps the two together.
"""

import os
import re
import secrets
from collections.abc import Iterable
from enum import StrEnum
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import Field, ValidationError, field_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

Network = IPv4Network | IPv6Network
SECRETS = {"DATABASE_URL", "EMBEDDING_API_KEY", "GATEWAY_AUTH_TOKEN", "MINARA_SECRET_KEY"}
NOT_REPEATED = SECRETS | {"EMBEDDING_BASE_URL"}  # it is refused when a secret stands in it
HOST = r"[a-z0-9.-]+|\[[a-f0-9:.]+\]"
PUBLIC_URL = re.compile(rf"https?://({HOST})(:[0-9]+)?")
ALLOWED_HOST = re.compile(rf"\*|{HOST}")


class ConfigError(Exception):
    """An environment variable has a value that cannot be used."""


class LogFormat(StrEnum):
    """How log lines are written."""

    JSON = "json"
    CONSOLE = "console"


class EmbeddingProviderName(StrEnum):
    """Who turns texts into vectors; `openai` is any endpoint that speaks its embeddings API."""

    DISABLED = "disabled"
    LOCAL = "local"
    OPENAI = "openai"
    VOYAGE = "voyage"


class Config(BaseSettings):
    """The environment, typed. Field names are the variables' names in lower case."""

    model_config = SettingsConfigDict(env_file=".env", env_ignore_empty=True, extra="ignore", frozen=True)

    minara_data_dir: Path = Field(
        default=Path("data"),
        description="Folder of minara.db, queue.db, the secret key and the lock. Read by settings.",
    )
    database_url: str = Field(
        default="",
        description="postgres://user:password@host:port/name; empty is SQLite in the data folder. Read by settings.",
    )
    minara_public_url: str = Field(
        default="http://127.0.0.1:8000",
        description="The address that people type. https turns on secure cookies and HSTS. Read by settings.",
    )
    minara_allowed_hosts: Annotated[tuple[str, ...], NoDecode] = Field(
        default=(),
        description="More host names, comma separated, beside the public address and this machine. Read by settings.",
    )
    minara_secret_key: str = Field(
        default="",
        description="Signs sessions and cursors; empty keeps a fresh one in the data folder. Read by settings.",
    )
    minara_debug: bool = Field(
        default=False,
        description="true or false: Django's debug pages, refused unless all hosts are local. Read by settings.",
    )
    minara_admin: bool = Field(
        default=False,
        description="true or false: operators read every table, without secrets, at /admin/. Read by settings.",
    )
    minara_log_format: LogFormat = Field(default=LogFormat.CONSOLE, description="json or console. Read by settings.")
    minara_log_level: str = Field(default="INFO", description="DEBUG, INFO, WARNING or ERROR. Read by settings.")
    gateway_auth_token: str = Field(
        default="",
        description="When set, a bearer token that is accepted as a key of the user `default`. Read by access.",
    )
    minara_key_environment: str = Field(
        default="live",
        pattern=r"^[a-z]{2,8}$",
        description="The <env> part of new API keys (mnr_<env>_...), 2 to 8 letters. Read by access.",
    )
    minara_key_expires_days: int = Field(
        default=90,
        ge=1,
        le=3650,
        description="Days until a new API key expires, unless asked otherwise, 1 to 3650. Read by access.",
    )
    minara_user_idle_days: int = Field(
        default=14,
        ge=1,
        le=365,
        description="Days without a visit after which somebody must sign in again, 1 to 365. Read by access.",
    )
    minara_user_sign_in_days: int = Field(
        default=30, ge=1, le=365, description="Days that one sign-in lasts at most, 1 to 365. Read by access."
    )
    minara_operator_idle_minutes: int = Field(
        default=30,
        ge=5,
        le=1440,
        description="Minutes without a visit after which an operator must sign in again, 5 to 1440. Read by access.",
    )
    minara_operator_sign_in_hours: int = Field(
        default=12,
        ge=1,
        le=168,
        description="Hours that an operator's sign-in lasts, and that a new one may work without a second factor, "
        "1 to 168. Read by access.",
    )
    fin_profile_memory_soft_delete_retention_days: int = Field(
        default=30,
        ge=1,
        le=3650,
        description="Days that a deleted memory can be restored, 1 to 3650. Read by memories.",
    )
    minara_session_idle_hours: int = Field(
        default=24,
        ge=1,
        le=720,
        description="Idle hours until an agent session ends and its prompt is wiped, 1 to 720. Read by conversations.",
    )
    minara_limit_reads_per_minute: int = Field(
        default=6000,
        ge=0,
        le=1_000_000,
        description="Reads that one key or person may ask for in a minute, 0 is no limit. Read by access.",
    )
    minara_limit_writes_per_minute: int = Field(
        default=1200,
        ge=0,
        le=1_000_000,
        description="Writes that one key or person may send in a minute, 0 is no limit. Read by access.",
    )
    minara_trusted_proxies: Annotated[tuple[Network, ...], NoDecode] = Field(
        default=(),
        description="Addresses or networks of proxies whose X-Forwarded-For counts, comma separated. Read by access.",
    )
    embedding_provider: EmbeddingProviderName = Field(
        default=EmbeddingProviderName.DISABLED,
        description="disabled, local, openai or voyage: who embeds texts for the search. Read by embeddings.",
    )
    embedding_api_key: str = Field(
        default="", description="Key of the embedding provider, for openai and voyage. Read by embeddings."
    )
    embedding_base_url: str = Field(
        default="",
        description="Address of an openai-compatible endpoint up to /v1; empty is the provider's. Read by embeddings.",
    )
    embedding_model: str = Field(
        default="",
        max_length=80,
        description="Name of the embedding model; empty is the provider's default. Read by embeddings.",
    )
    minara_search_log_days: int = Field(
        default=30,
        ge=0,
        le=3650,
        description="Days that searches and what they returned are kept, 0 keeps none. Read by why.",
    )
    minara_fact_debounce_seconds: int = Field(
        default=5,
        ge=0,
        le=3600,
        description="Seconds after a recorded fact until the sweep over the pending ones, 0 to 3600. Read by facts.",
    )
    minara_non_interactive: bool = Field(
        default=False,
        description="true or false: nobody is at the terminal, so that no hard constraint is imported. Read by bundle.",
    )
    minara_job_workers: int = Field(
        default=1, ge=1, le=32, description="Job worker processes of one `minara worker`, 1 to 32. Read by jobs."
    )
    minara_job_timeout_seconds: int = Field(
        default=600,
        ge=10,
        le=86400,
        description="Seconds after which a job is stopped and tried again, 10 to 86400. Read by jobs.",
    )

    @field_validator("minara_trusted_proxies", mode="before")
    @classmethod
    def read_networks(cls, value: object) -> object:
        """Read a comma separated list; a network may be written with host bits."""
        parts = value.replace(",", " ").split() if isinstance(value, str) else value
        return [ip_network(part, strict=False) for part in parts] if isinstance(parts, Iterable) else value

    @field_validator("minara_allowed_hosts", mode="before")
    @classmethod
    def split_hosts(cls, value: object) -> object:
        """Read a comma separated list."""
        return value.lower().replace(",", " ").split() if isinstance(value, str) else value

    @field_validator("minara_allowed_hosts")
    @classmethod
    def check_hosts(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        """Accept names and addresses; with a scheme or a port none would ever match."""
        wrong = [host for host in value if ALLOWED_HOST.fullmatch(host) is None]
        if wrong:
            raise ValueError(f"{wrong[0]} is no host name")
        return value

    @field_validator("minara_public_url")
    @classmethod
    def check_public_url(cls, value: str) -> str:
        """Accept an http or https address with a host and nothing behind it, in the spelling of browsers."""
        url = value.lower().rstrip("/")
        if PUBLIC_URL.fullmatch(url) is None or urlsplit(url).port == 0:  # raises beyond 65535
            raise ValueError("must look like https://minara.example.com")
        return url

    @field_validator("database_url")
    @classmethod
    def check_database_url(cls, value: str) -> str:
        """Accept PostgreSQL; anything else is a mistake that would silently start SQLite."""
        if not value:
            return value
        parts = urlsplit(value)
        if parts.scheme not in {"postgres", "postgresql"} or not parts.path.strip("/"):
            raise ValueError("must look like postgres://user:password@host:5432/name; leave it empty for SQLite")
        if parts.port == 0:
            raise ValueError("names port 0")
        return value

    @field_validator("embedding_base_url")
    @classmethod
    def check_embedding_base_url(cls, value: str) -> str:
        """Accept no address with a password or a key in it: settings are shown."""
        parts = urlsplit(value)
        if "@" in parts.netloc or parts.query:
            raise ValueError("must hold no password and no query; EMBEDDING_API_KEY is for the key")
        return value

    @field_validator("minara_log_level")
    @classmethod
    def check_log_level(cls, value: str) -> str:
        """Accept the names of the standard levels."""
        if value.upper() not in {"DEBUG", "INFO", "WARNING", "ERROR"}:
            raise ValueError("must be DEBUG, INFO, WARNING or ERROR")
        return value.upper()

    @property
    def is_https(self) -> bool:
        """Whether people reach the console through TLS."""
        return self.minara_public_url.startswith("https://")

    @property
    def public_host(self) -> str:
        """The host that people type, an IPv6 address in brackets."""
        match = PUBLIC_URL.fullmatch(self.minara_public_url)
        assert match
        return match[1]


def load_config() -> Config:
    """Read the environment. Raises ConfigError with one line that names the first wrong variable."""
    try:
        return Config()
    except ValidationError as error:
        first = error.errors()[0]
        name = str(first["loc"][0]).upper() if first["loc"] else "environment"
        got = "" if name in NOT_REPEATED else f" (got {first['input']!r})"
        raise ConfigError(f"{name}: {first['msg'].removeprefix('Value error, ')}{got}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f".env: cannot be read: {error}") from None


def open_data_folder(config: Config) -> Path:
    """Return the data folder, made for this user alone if need be. Raises ConfigError when it cannot be written."""
    folder = config.minara_data_dir.absolute()
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(f"MINARA_DATA_DIR: {folder} cannot be made: {error.strerror}") from None
    if not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
        raise ConfigError(f"MINARA_DATA_DIR: {folder} cannot be written by this user")
    return folder


def read_secret_key(config: Config, folder: Path) -> str:
    """Return the configured key, else the one kept in the data folder, made on the first start. Raises ConfigError."""
    if config.minara_secret_key:
        return config.minara_secret_key
    path = folder / "secret_key"
    try:
        if not path.exists():
            keep_fresh_key(path)
        key = path.read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"MINARA_DATA_DIR: {path} cannot be read or made: {error}") from None
    if not key:
        raise ConfigError(f"MINARA_DATA_DIR: {path} is empty; remove it, and everybody signs in again")
    return key


def keep_fresh_key(path: Path) -> None:
    """Write a random key; the first of several starting processes wins."""
    fresh = path.with_suffix(f".{secrets.token_hex(4)}")
    fresh.touch(mode=0o600)
    try:
        fresh.write_text(secrets.token_urlsafe(48))
        path.hardlink_to(fresh)
    except FileExistsError:
        pass
    finally:
        fresh.unlink()
