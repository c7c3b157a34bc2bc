"""Log lines: event name and ids, never content. One format for people, one for machines."""

import logging.config
import re
from typing import Any

import structlog
from structlog.typing import EventDict

LINK_TOKEN = re.compile(  # as long as `secrets.token_urlsafe(32)`, or what stands for one that was not copied well
    r"(?<=/)[\w-]{43,}|(?:(?<=/invite/)|(?<=/welcome/)).+?(?=/?$)",
    re.DOTALL,
)


def blank_links(_logger: Any, _level: str, event: EventDict) -> EventDict:
    """Take the tokens of one-time links, which may still open something, out of every path in the line."""
    return {name: LINK_TOKEN.sub("…", said) if isinstance(said, str) else said for name, said in event.items()}


def logging_config(level: str, *, as_json: bool) -> dict[str, Any]:
    """Return the dictConfig that renders every logger, structlog's and the standard library's, alike."""
    renderer: Any = structlog.processors.JSONRenderer() if as_json else structlog.dev.ConsoleRenderer(colors=False)
    shared = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        blank_links,
    ]
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {
            "line": {
                "()": structlog.stdlib.ProcessorFormatter,
                "processors": [
                    structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                    structlog.processors.format_exc_info,
                    renderer,
                ],
                "foreign_pre_chain": shared,
            }
        },
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
        "root": {"handlers": ["stderr"], "level": level},
        "loggers": {
            "django.request": {"level": "ERROR"},
            "django.security.DisallowedHost": {"level": "CRITICAL"},  # anybody can cause it; the request log has a line
            "mcp": {"level": "WARNING"},
            "anthropic": {"level": "WARNING"},  # below it writes what models are asked
            "httpx2": {"level": "WARNING"},  # at INFO it names every address that is called
            "httpcore2": {"level": "WARNING"},  # at DEBUG it writes the headers of answers
            "fido2": {"level": "WARNING"},  # at INFO it names the passkeys
            **{name: {"level": "ERROR"} for name in ("celery", "kombu", "amqp")},  # below it they repeat our lines
            "celery.worker.request": {"level": "CRITICAL"},  # a trace for each worker that died
            "multiprocessing": {"level": "ERROR", "handlers": ["stderr"], "propagate": False},  # Celery's pool
            "django-q": {
                "level": "WARNING",
                "handlers": ["stderr"],
                "propagate": False,
            },
        },
    }


def configure(config: dict[str, Any]) -> None:
    """Apply `logging_config` and point structlog at it; Django calls this through LOGGING_CONFIG."""
    logging.config.dictConfig(config)
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.stdlib.filter_by_level,
            structlog.stdlib.add_logger_name,
            structlog.stdlib.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            blank_links,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=True,
    )
