"""Every environment variable, once: its type, unit, default and reader.

`settings.MINARA` holds the one `Config`. A value of the wrong type stops the start with one line that names
the variable (`ConfigError`). `.env.example` is the user's copy of this list; a test keeps the two together.
"""

import os
import re
import secrets
from collections.abc import Iterable
from contextlib import suppress
from decimal import Decimal
from enum import StrEnum
from importlib.util import find_spec
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from typing import Annotated, Any, ClassVar
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict, SettingsError

Network = IPv4Network | IPv6Network
Usd = Annotated[Decimal, Field(ge=0, le=1_000_000, max_digits=14, decimal_places=8)]
SECRETS = {
    "ANTHROPIC_API_KEY",
    "DATABASE_URL",
    "EMBEDDING_API_KEY",
    "GATEWAY_AUTH_TOKEN",
    "MINARA_API_KEY",
    "MINARA_BROKER_URL",
    "MINARA_SECRET_KEY",
}
NOT_REPEATED = SECRETS | {
    "ANTHROPIC_BASE_URL",
    "EMBEDDING_BASE_URL",
    "HYPERLIQUID_INFO_URL",
    "MARKET_BASE_URL",
    "MINARA_BASE_URL",
}  # it is refused when a secret stands in it
HOST = r"[a-z0-9.-]+|\[[a-f0-9:.]+\]"
PUBLIC_URL = re.compile(rf"https?://({HOST})(:[0-9]+)?")
MIN_POOLED = 4
ALLOWED_HOST = re.compile(rf"\*|{HOST}")


def _(text: str) -> str:
    """Mark a description for translation; Django's own marker asks for the settings, which read this module."""
    return text


def setting(default: Any, description: str, reader: str, **limits: Any) -> Any:
    """Return a variable with its default and limits, in words what it does, and the rooms that read it."""
    return Field(default, description=f"{description} Read by {reader}.", **limits)


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


class JobRunner(StrEnum):
    """What brings jobs to workers; `q2` is django-q2 in the database."""

    Q2 = "q2"
    CELERY = "celery"


class CourtMode(StrEnum):
    """What the second judgement of methodologies does."""

    OFF = "off"
    ADVISE = "advise"
    ENFORCE = "enforce"


class MarketSourceName(StrEnum):
    """Where candles are fetched."""

    DISABLED = "disabled"
    HTTP = "http"
    CCXT = "ccxt"


class ModelPriceSetting(BaseModel):
    """What a model costs in USD per million tokens; caching costs what Anthropic's does unless it is said."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    input: Usd
    output: Usd
    cache_read: Usd | None = None
    cache_write: Usd | None = None


class Config(BaseSettings):
    """The environment, typed. Field names are the variables' names in lower case."""

    model_config = SettingsConfigDict(
        env_file=".env",
        env_ignore_empty=True,
        extra="ignore",
        frozen=True,
    )

    # Django looks for it at each read of `settings.MINARA`; for what is missing pydantic takes forty times as long.
    _mask_wrapped: ClassVar[bool] = True

    minara_data_dir: Path = setting(
        Path("data"), _("Folder of minara.db, queue.db, the secret key and the lock."), "settings"
    )
    database_url: str = setting(
        "", _("postgres://user:password@host:port/name; empty is SQLite in the data folder."), "settings"
    )
    minara_database_connections: int = setting(
        0, _("Connections to PostgreSQL that a process pools, 4 to 100; 0 keeps one."), "settings", ge=0, le=100
    )
    minara_statement_timeout_seconds: int = setting(
        30,
        _("Seconds after which PostgreSQL stops a statement of a page or call, 0 to 3600; 0 is no limit."),
        "settings",
        ge=0,
        le=3600,
    )
    minara_public_url: str = setting(
        "http://127.0.0.1:8000", _("The address that people type. https turns on secure cookies and HSTS."), "settings"
    )
    minara_allowed_hosts: Annotated[tuple[str, ...], NoDecode] = setting(
        (), _("More host names, comma separated, beside the public address and this machine."), "settings"
    )
    minara_secret_key: str = setting(
        "", _("Signs sessions and cursors; empty keeps a fresh one in the data folder."), "settings"
    )
    minara_debug: bool = setting(
        False, _("true or false: Django's debug pages, refused unless all hosts are local."), "settings"
    )
    minara_admin: bool = setting(
        False, _("true or false: operators read every table, without secrets, at /admin/."), "settings"
    )
    minara_log_format: LogFormat = setting(LogFormat.CONSOLE, _("json or console."), "settings")
    minara_log_level: str = setting("INFO", _("DEBUG, INFO, WARNING or ERROR."), "settings")
    gateway_auth_token: str = setting(
        "", _("When set, a bearer token that is accepted as a key of the user `default`."), "access"
    )
    minara_key_environment: str = setting(
        "live", _("The <env> part of new API keys (mnr_<env>_...), 2 to 8 letters."), "access", pattern=r"^[a-z]{2,8}$"
    )
    minara_key_expires_days: int = setting(
        90, _("Days until a new API key expires, unless asked otherwise, 1 to 3650."), "access", ge=1, le=3650
    )
    minara_user_idle_days: int = setting(
        14, _("Days without a visit after which a person must sign in again, 1 to 365."), "access", ge=1, le=365
    )
    minara_user_sign_in_days: int = setting(
        30, _("Days that one sign-in lasts at most, 1 to 365."), "access", ge=1, le=365
    )
    minara_operator_idle_minutes: int = setting(
        30, _("Minutes without a visit after which an operator must sign in again, 5 to 1440."), "access", ge=5, le=1440
    )
    minara_operator_sign_in_hours: int = setting(
        12,
        _("Hours that an operator's sign-in lasts, and that a new one may work without a second factor, 1 to 168."),
        "access",
        ge=1,
        le=168,
    )
    fin_profile_memory_soft_delete_retention_days: int = setting(
        30, _("Days that a deleted memory can be restored, 1 to 3650."), "memories", ge=1, le=3650
    )
    minara_session_idle_hours: int = setting(
        24,
        _("Idle hours until an agent session ends and its prompt is wiped, 1 to 720."),
        "conversations",
        ge=1,
        le=720,
    )
    minara_limit_reads_per_minute: int = setting(
        6000, _("Reads that one key or person may ask for in a minute, 0 is no limit."), "access", ge=0, le=1_000_000
    )
    minara_limit_writes_per_minute: int = setting(
        1200, _("Writes that one key or person may send in a minute, 0 is no limit."), "access", ge=0, le=1_000_000
    )
    minara_trusted_proxies: Annotated[tuple[Network, ...], NoDecode] = setting(
        (), _("Addresses or networks of proxies whose X-Forwarded-For counts, comma separated."), "access"
    )
    embedding_provider: EmbeddingProviderName = setting(
        EmbeddingProviderName.DISABLED,
        _("disabled, local, openai or voyage: who embeds texts for the search."),
        "embeddings",
    )
    embedding_api_key: str = setting("", _("Key of the embedding provider, for openai and voyage."), "embeddings")
    embedding_base_url: str = setting(
        "", _("Address of an openai-compatible endpoint up to /v1; empty is the provider's."), "embeddings"
    )
    embedding_model: str = setting(
        "", _("Name of the embedding model; empty is the provider's default."), "embeddings", max_length=80
    )
    minara_search_log_days: int = setting(
        30, _("Days that searches and what they returned are kept, 0 keeps none."), "why", ge=0, le=3650
    )
    minara_fact_debounce_seconds: int = setting(
        5, _("Seconds after a recorded fact until the sweep over the pending ones, 0 to 3600."), "facts", ge=0, le=3600
    )
    minara_non_interactive: bool = setting(
        False, _("true or false: no one is at the terminal, so that no hard constraint is imported."), "bundle"
    )
    anthropic_api_key: str = setting("", _("Key of the Messages API. Without one, what needs no model works."), "llm")
    anthropic_base_url: str = setting("", _("Another endpoint of the Messages API, set together with its key."), "llm")
    minara_model_fast: str = setting(
        "claude-haiku-5-5", _("The model of frequent, small questions."), "llm", min_length=1, max_length=80
    )
    minara_model_main: str = setting(
        "claude-sonnet-5-5", _("The model of rare, hard questions."), "llm", min_length=1, max_length=80
    )
    minara_model_prices: dict[str, ModelPriceSetting] = Field(
        default_factory=dict,
        description=_(
            'Prices of further models in USD per million tokens, as JSON: {"name": {"input": 1, '
            '"output": 5}}. A model without a price is not called.'
        )
        + " Read by llm.",
    )
    minara_model_timeout_seconds: int = setting(
        60, _("Seconds that a model may take to answer, 1 to 600."), "llm", ge=1, le=600
    )
    minara_model_retries: int = setting(2, _("Further tries when a model is busy or fails, 0 to 8."), "llm", ge=0, le=8)
    minara_budget_learning_daily_usd: Usd = setting(
        Decimal(1), _("USD that calls of the category learning may cost in a day."), "llm"
    )
    minara_budget_learning_monthly_usd: Usd = setting(
        Decimal(20), _("USD that calls of the category learning may cost in a month."), "llm"
    )
    minara_budget_agent_daily_usd: Usd = setting(
        Decimal(10), _("USD that calls of the category agent may cost in a day."), "llm"
    )
    minara_budget_agent_monthly_usd: Usd = setting(
        Decimal(200), _("USD that calls of the category agent may cost in a month."), "llm"
    )
    minara_budget_workflow_daily_usd: Usd = setting(
        Decimal(5), _("USD that calls of the category workflow may cost in a day."), "llm"
    )
    minara_budget_workflow_monthly_usd: Usd = setting(
        Decimal(100), _("USD that calls of the category workflow may cost in a month."), "llm"
    )
    minara_budget_experiment_daily_usd: Usd = setting(
        Decimal(5), _("USD that calls of the category experiment may cost in a day."), "llm"
    )
    minara_budget_experiment_monthly_usd: Usd = setting(
        Decimal(50), _("USD that calls of the category experiment may cost in a month."), "llm"
    )
    minara_daily_cap_usd: Usd | None = setting(
        None, _("USD that all model calls together may cost in a day; empty is no cap."), "llm"
    )
    minara_budget_soft_threshold: float = setting(
        0.8, _("Share of a cap from which on a warning is logged, once a day and month, up to 1."), "llm", gt=0, le=1
    )
    memory_consolidation_enabled: bool = setting(
        False, _("true or false: a model judges facts that contradict each other."), "facts"
    )
    memory_consolidation_guidance: str = setting(
        "",
        _("What that model should prefer, in your words, at most 500 characters; no rule of the code gives way to it."),
        "facts",
        max_length=500,
    )
    noise_band_pct: float = setting(
        0.5,
        _("Percent of price change within which luck and skill look alike, 0 to 50."),
        "roles and cases",
        ge=0,
        le=50,
    )
    decision_snapshot_days: int = setting(
        0,
        _("Days that the ticks of trading agents are kept, 0 to 3650; 0 keeps them all. Trades stay."),
        "ticks",
        ge=0,
        le=3650,
    )
    case_cost_pct: float = setting(
        0.1,
        _("Percent that a trade costs, in and out, taken off the mean move of a methodology, 0 to 50."),
        "methodologies",
        ge=0,
        le=50,
    )
    injection_threshold: float = setting(
        0.55, _("Confidence from which on a methodology may be in prompts, 0 to 1."), "methodologies", ge=0, le=1
    )
    min_uses: int = setting(10, _("Uses before a methodology may graduate."), "methodologies", ge=1, le=10_000)
    demotion_wilson_threshold: float = setting(
        0.4, _("Confidence below which a methodology goes back to quarantine, 0 to 1."), "methodologies", ge=0, le=1
    )
    min_uses_before_demotion: int = setting(
        20, _("Uses before a methodology may be demoted."), "methodologies", ge=1, le=10_000
    )
    initial_confidence: float = setting(
        0.1, _("Confidence of a methodology that was never used, 0 to 1."), "methodologies", ge=0, le=1
    )
    minara_learning_enabled: bool = setting(
        True,
        _("true or false: good turns are reviewed, learnings stored and suggested, preferences mined."),
        "learnings and preferences",
    )
    minara_learning_min_calls: int = setting(
        3, _("Tool calls below which a turn is not reviewed."), "learnings", ge=1, le=200
    )
    minara_learning_score_threshold: int = setting(
        7, _("Score of a review from which on it is stored, 0 to 10."), "learnings", ge=0, le=10
    )
    minara_learning_top_k: int = setting(3, _("Learnings that a turn is suggested, at most."), "learnings", ge=0, le=20)
    institution_learning_enabled: bool = setting(
        False,
        _("true or false: prices score institution runs when a window is over, and cited methodologies count it."),
        "institution",
    )
    methodology_court: CourtMode = setting(
        CourtMode.ADVISE, _("off, advise (marks that beat chance) or enforce (only those in prompts)."), "methodologies"
    )
    methodology_audit_cron_enabled: bool = setting(
        False, _("true or false: the learning audit runs by itself. Runs by hand work without."), "audit"
    )
    methodology_audit_window_days: int = setting(
        30, _("Days that an audit pass looks back, 1 to 365."), "audit", ge=1, le=365
    )
    methodology_audit_interval_hours: int = setting(
        24, _("Hours between two passes of the audit's cron, 1 to 720."), "audit", ge=1, le=720
    )
    methodology_audit_idle_seconds: int = setting(
        60, _("Seconds without a turn of an agent before the audit's cron runs, 0 to 3600."), "audit", ge=0, le=3600
    )
    methodology_audit_max_deferrals: int = setting(
        12, _("Deferred looks in a row after which the audit's cron runs beside busy agents."), "audit", ge=1, le=1000
    )
    minara_skill_modules: Annotated[tuple[str, ...], NoDecode] = setting(
        (), _("Python modules whose SKILLS declare further roles, comma separated."), "roles"
    )
    market_source: MarketSourceName = setting(
        MarketSourceName.DISABLED,
        _("disabled, http or ccxt: where `minara market fetch` and its job get candles."),
        "market",
    )
    market_base_url: str = setting(
        "", _("Where klines like Binance's are, for http: https://api.binance.com/api/v3."), "market"
    )
    market_exchange: str = setting("binance", _("Name of the exchange, for ccxt."), "market", max_length=40)
    market_symbols: Annotated[tuple[str, ...], NoDecode] = setting(
        (), _("What is fetched, comma separated: BTC/USDT,ETH/USDT."), "market"
    )
    market_interval: str = setting(
        "1h", _("Length of a fetched candle: 5m, 1h, 1d."), "market", pattern=r"^[1-9][0-9]{0,2}[mhd]$"
    )
    minara_news_url: str = setting(
        "", _("Address of headlines as JSON, with {asset}, {since} and {until} in it."), "roles and institution"
    )
    minara_onchain_url: str = setting(
        "", _("Address of on-chain figures as JSON, with {asset}, {since} and {until} in it."), "roles and institution"
    )
    hyperliquid_info_url: str = setting(
        "https://api.hyperliquid.xyz/info",
        _("Where the fills of wallets that users added are read; disabled reads none."),
        "activity",
    )
    hyperliquid_weight_per_minute: int = setting(
        1000,
        _("Weight that all processes together may ask of it in a minute, 200 to 1000000."),
        "activity",
        ge=200,
        le=1_000_000,
    )
    minara_base_url: str = setting("", _("Address of the Minara gateway, set together with its key."), "activity")
    minara_api_key: str = setting(
        "", _("Key of the Minara gateway, whose trades are those of the user `default`."), "activity"
    )
    history_sync_min_interval_ms: int = setting(
        300_000,
        _("Milliseconds between two syncs of an owner's trades, 0 to 86400000."),
        "activity",
        ge=0,
        le=86_400_000,
    )
    history_sync_max_failures: int = setting(
        5, _("Failures in a row after which a wallet is not read for a while, 1 to 1000."), "activity", ge=1, le=1000
    )
    history_sync_failure_cooldown_ms: int = setting(
        1_800_000,
        _("Milliseconds of that while; then it is tried once, 0 to 2592000000."),
        "activity",
        ge=0,
        le=2_592_000_000,
    )
    minara_personalization_rebuild: str = setting(
        "enabled",
        _("enabled or disabled: a model writes summary, tags and memories of users."),
        "rebuild",
        pattern="^(enabled|disabled)$",
    )
    trading_summary_cooldown_ms: int = setting(
        1_800_000,
        _("Milliseconds between two rebuilds of a trading summary, 0 to 31536000000."),
        "rebuild",
        ge=0,
        le=31_536_000_000,
    )
    tags_cooldown_ms: int = setting(
        2_592_000_000,
        _("Milliseconds between two rebuilds of a user's tags, 0 to 31536000000."),
        "rebuild",
        ge=0,
        le=31_536_000_000,
    )
    memories_cooldown_ms: int = setting(
        600_000,
        _("Milliseconds between two readings of a user's turns, 0 to 31536000000."),
        "rebuild",
        ge=0,
        le=31_536_000_000,
    )
    rebuild_on_boot: bool = setting(
        False, _("true or false: each start of `minara up` asks for every rebuild that is due."), "rebuild"
    )
    chat_intent_gating_enabled: bool = setting(
        False, _("true or false: prompts keep a core of the tags, a model adds those a message needs."), "prompt"
    )
    minara_limit_model_actions_per_hour: int = setting(
        60, _("Acts that call models, of one key or person in an hour, 0 is no limit."), "access", ge=0, le=1_000_000
    )
    minara_job_workers: int = setting(
        1, _("Job worker processes of one `minara worker`, 1 to 32."), "jobs", ge=1, le=32
    )
    minara_job_timeout_seconds: int = setting(
        600, _("Seconds after which a job is stopped and tried again, 10 to 86400."), "jobs", ge=10, le=86400
    )
    minara_jobs: JobRunner = setting(
        JobRunner.Q2, _("q2 or celery: what brings jobs to workers; celery is for more than one machine."), "jobs"
    )
    minara_broker_url: str = setting(
        "", _("Where celery keeps its messages: redis://:password@host:6379/0 or amqp://user:password@host//."), "jobs"
    )

    minara_backup_dir: Path | None = setting(
        None, _("Folder of the backups on a schedule; empty makes none."), "backup"
    )
    minara_backup_every_hours: int = setting(24, _("Hours between two backups, 1 to 720."), "backup", ge=1, le=720)
    minara_backups_kept: int = setting(7, _("Newest backups of the schedule that are kept."), "backup", ge=1, le=1000)

    @field_validator("minara_trusted_proxies", mode="before")
    @classmethod
    def read_networks(cls, value: object) -> object:
        """Read a comma separated list; a network may be written with host bits."""
        parts = split_list(value)
        return [ip_network(part, strict=False) for part in parts] if isinstance(parts, Iterable) else value

    @field_validator("minara_skill_modules", "market_symbols", mode="before")
    @classmethod
    def split_names(cls, value: object) -> object:
        """Read a comma separated list."""
        return split_list(value)

    @field_validator("minara_allowed_hosts", mode="before")
    @classmethod
    def split_hosts(cls, value: object) -> object:
        """Read a comma separated list."""
        return split_list(value.lower() if isinstance(value, str) else value)

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
        if not is_address(value, {"postgres", "postgresql"}) or not urlsplit(value).path.strip("/"):
            raise ValueError(
                "must look like postgres://user:password@host:5432/name, special characters as %XX; "
                "leave it empty for SQLite"
            )
        return value

    @field_validator("minara_broker_url")
    @classmethod
    def check_broker_url(cls, value: str) -> str:
        """Accept Redis and RabbitMQ."""
        if value and not (is_address(value, {"redis", "rediss", "amqp", "amqps"}) and urlsplit(value).hostname):
            raise ValueError(
                "must look like redis://:password@host:6379/0 or amqp://user:password@host:5672//, "
                "special characters as %XX"
            )
        return value

    @field_validator("minara_database_connections")
    @classmethod
    def check_pool(cls, value: int) -> int:
        """Accept no pool, or one that is not used up by a request and what runs beside it."""
        if 0 < value < MIN_POOLED:
            raise ValueError(f"must be 0, or {MIN_POOLED} to 100")
        return value

    @field_validator(
        "embedding_base_url", "anthropic_base_url", "market_base_url", "hyperliquid_info_url", "minara_base_url"
    )
    @classmethod
    def check_base_url(cls, value: str) -> str:
        """Accept no address with a password or a key in it: settings are shown."""
        parts = urlsplit(value)
        if "@" in parts.netloc or parts.query or parts.fragment:
            raise ValueError("must hold no password, no query and no #; a key has a variable of its own")
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


def split_list(value: object) -> object:
    """Return the parts of a comma separated list, and what is no text as it is."""
    return value.replace(",", " ").split() if isinstance(value, str) else value


def is_address(url: str, schemes: set[str]) -> bool:
    """Say whether a URL has one of these schemes and can be read; the reason why not would repeat its password."""
    with suppress(ValueError):
        return urlsplit(url).scheme in schemes and urlsplit(url).port != 0
    return False


def load_config() -> Config:
    """Read the environment. Raises ConfigError with one line that names the first wrong variable."""
    try:
        config = Config()
    except SettingsError as error:  # a list or a table that is no JSON; its message names the field and repeats nothing
        field = re.search(r'field "(\w+)"', str(error))
        raise ConfigError(f"{field[1].upper() if field else 'environment'}: must be JSON") from None
    except ValidationError as error:
        first = error.errors()[0]
        name = str(first["loc"][0]).upper() if first["loc"] else "environment"
        got = "" if name in NOT_REPEATED else f" (got {first['input']!r})"
        raise ConfigError(f"{name}: {first['msg'].removeprefix('Value error, ')}{got}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f".env: cannot be read: {error}") from None
    refuse_key_of_another_place(config)
    check_job_runner(config)
    return config


def refuse_key_of_another_place(config: Config) -> None:
    """Refuse a key of the shell with an address of `.env`, and the other way round: it would go to a stranger.

    Raises ConfigError.
    """
    in_shell = {name.lower() for name, value in os.environ.items() if value}
    is_set = [name for name in ("anthropic_api_key", "anthropic_base_url") if getattr(config, name)]
    if len({name in in_shell for name in is_set}) > 1:
        places = ["the environment" if name in in_shell else ".env" for name in is_set]
        raise ConfigError(
            f"ANTHROPIC_BASE_URL: comes from {places[1]} and ANTHROPIC_API_KEY from {places[0]}; "
            "set both in the same place, so that no key is sent to an address that it is not meant for"
        )


def check_job_runner(config: Config) -> None:
    """Refuse Celery without its packages or its broker. Raises ConfigError."""
    if config.minara_jobs is not JobRunner.CELERY:
        return
    if not (find_spec("celery") and find_spec("redis")):
        raise ConfigError("MINARA_JOBS: celery needs more packages; run: pip install 'minara[scale]'")
    if not config.minara_broker_url:
        raise ConfigError("MINARA_BROKER_URL: is needed with MINARA_JOBS=celery, for instance redis://127.0.0.1:6379/0")


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
