"""Django settings, derived from `config.Config`; nothing here reads the environment itself."""

from pathlib import Path
from typing import Any

import dj_database_url
from csp.constants import NONE, SELF
from django.utils.translation import gettext_lazy as _
from whitenoise.compress import Compressor

from minara_site.config import load_config, open_data_folder, read_secret_key
from minara_site.kernel.backup.swap import finish_restore
from minara_site.kernel.logs import logging_config
from minara_site.kernel.processes.whole_requests import SMALL_BODY

BASE_DIR = Path(__file__).resolve().parent.parent
MINARA = load_config()
DATA_DIR = open_data_folder(MINARA)
finish_restore(DATA_DIR)


def sqlite(path: Path) -> dict[str, Any]:
    """Return a SQLite database with write-ahead log and immediate write transactions."""
    return {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": path,
        "OPTIONS": {
            "timeout": 20,
            "transaction_mode": "IMMEDIATE",
            "init_command": (
                "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA mmap_size=268435456;"
                "PRAGMA cache_size=-20000; PRAGMA temp_store=MEMORY; PRAGMA secure_delete=ON; PRAGMA foreign_keys=ON"
            ),
        },
    }


SECRET_KEY = read_secret_key(MINARA, DATA_DIR)
DEBUG = MINARA.minara_debug
LOCAL_HOSTS = ("127.0.0.1", "localhost", "[::1]")
ALLOWED_HOSTS = [*dict.fromkeys((MINARA.public_host, *LOCAL_HOSTS, *MINARA.minara_allowed_hosts))]
CSRF_TRUSTED_ORIGINS = [MINARA.minara_public_url]

INSTALLED_APPS = [
    "minara_site.kernel",
    "minara_site.access",
    "minara_site.web",
    "learning_app",
    "memory_app",
    "profile_app",
    "minara_site.agent",
    "minara_site.console",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.humanize",
    "django.contrib.messages",
    "django.contrib.sessions",
    "django.contrib.staticfiles",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.usersessions",
    "csp",
    "django_htmx",
    "django_q",
    "ninja",
]

if MINARA.minara_admin:  # it reads only, so that its own table of changes is never made
    INSTALLED_APPS.append("minara_site.console.tables.apps.TablesConfig")
    MIGRATION_MODULES = {"admin": None}

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "minara_site.web.request_log.RequestLogMiddleware",
    "minara_site.shell.middleware.PersonalPageMiddleware",
    "minara_site.shell.problem_paths.MachineProblemMiddleware",
    "minara_site.shell.middleware.BrowserLanguageMiddleware",
    "minara_site.shell.middleware.BodyLimitMiddleware",
    "minara_site.shell.middleware.ReadableMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "minara_site.access.middleware.PrincipalMiddleware",
    "minara_site.shell.middleware.UploadMiddleware",
    "minara_site.shell.middleware.PreferencesMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "minara_site.shell.middleware.DomainErrorMiddleware",
]

ROOT_URLCONF = "minara_site.urls"
WSGI_APPLICATION = "minara_site.wsgi.application"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "OPTIONS": {
            "loaders": [
                (
                    "django.template.loaders.cached.Loader",
                    ["minara_site.web.templates.Loader", "django.template.loaders.app_directories.Loader"],
                ),
            ],
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "minara_site.shell.context.shell",
            ],
            "builtins": ["minara_site.web.templatetags.minara"],
        },
    }
]

if MINARA.database_url:
    POOL_SIZE = MINARA.minara_database_connections
    KEPT_SECONDS = 0 if POOL_SIZE else 600  # a pool keeps them itself
    SERVER: dict[str, Any] = {
        **dj_database_url.parse(
            MINARA.database_url,
            conn_max_age=KEPT_SECONDS,
            conn_health_checks=True,
        )
    }
    SERVER["OPTIONS"] = {
        "connect_timeout": 5,
        "tcp_user_timeout": 30_000,
        **SERVER.get("OPTIONS", {}),
    }
    if POOL_SIZE:
        SERVER["OPTIONS"]["pool"] = {"min_size": 1, "max_size": POOL_SIZE, "timeout": 5}
    DATABASES = {"default": SERVER}
    QUEUE_DATABASE = "default"
else:
    DATABASES = {
        "default": sqlite(DATA_DIR / "minara.db"),
        "queue": sqlite(DATA_DIR / "queue.db"),
    }
    QUEUE_DATABASE = "queue"
    DATABASE_ROUTERS = ["minara_site.kernel.jobs.router.QueueRouter"]
    for database in DATABASES.values():
        database["CONN_MAX_AGE"] = None

Q_CLUSTER = {  # Celery takes its name, workers, timeout and retry from here too
    "name": "minara",
    "orm": QUEUE_DATABASE,
    "workers": MINARA.minara_job_workers,
    "timeout": MINARA.minara_job_timeout_seconds,
    "retry": 2 * MINARA.minara_job_timeout_seconds + 60,
    "ack_failures": True,  # job_runs is the record; the sweep tries again
    "max_attempts": 1,
    "save_limit": 100,
    "queue_limit": 1,  # what a dying cluster has taken and not begun waits for the sweep
    "poll": 0.5,
    "bulk": 1,
    "scheduler": False,  # kernel.jobs.schedule is the one schedule
    "guard_cycle": 1,
}

CACHES = {
    "default": {  # shared by the processes of one machine; what must hold on all of them is in the database
        "BACKEND": "django.core.cache.backends.filebased.FileBasedCache",
        "LOCATION": DATA_DIR / "cache",
        "OPTIONS": {"MAX_ENTRIES": 10_000},
    }
}

AUTH_USER_MODEL = "access.User"
AUTHENTICATION_BACKENDS = ["minara_site.access.backends.AccountBackend"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 12}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.NumericPasswordValidator"},
]
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "home"
ACCOUNT_ADAPTER = "minara_site.access.adapters.ClosedAccountAdapter"
ACCOUNT_LOGIN_METHODS = {"username"}
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_SIGNUP_FIELDS = ["username*", "password1*"]
ACCOUNT_LOGOUT_ON_GET = False
ACCOUNT_LOGOUT_REDIRECT_URL = "account_login"
ACCOUNT_PREVENT_ENUMERATION = True
ACCOUNT_SESSION_REMEMBER = True
ACCOUNT_RATE_LIMITS = MFA_RATE_LIMITS = False  # access.security.lockout counts, for all processes and machines
ACCOUNT_REAUTHENTICATION_TIMEOUT = 600
MFA_ADAPTER = "minara_site.access.adapters.SecondFactorAdapter"
MFA_SUPPORTED_TYPES = ["recovery_codes", "totp", "webauthn"]
MFA_PASSKEY_LOGIN_ENABLED = True
MFA_WEBAUTHN_USER_VERIFICATION = "required"
MFA_TOTP_ISSUER = "Minara"
MFA_TOTP_TOLERANCE = 1  # clocks of phones are off by some seconds

SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_AGE = MINARA.minara_user_idle_days * 24 * 3600  # access.middleware ends an operator's earlier
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = MINARA.is_https
SESSION_COOKIE_NAME = "__Host-minara-session" if MINARA.is_https else "minara-session"
CSRF_COOKIE_NAME = "__Host-minara-csrf" if MINARA.is_https else "minara-csrf"
CSRF_COOKIE_SAMESITE = "Strict"
CSRF_COOKIE_HTTPONLY = True
CSRF_FAILURE_VIEW = "minara_site.shell.errors.csrf_failure"
LANGUAGE_COOKIE_SAMESITE = "Lax"

SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if MINARA.is_https else None
SECURE_SSL_REDIRECT = False  # the proxy in front does it; health checks come over http
SECURE_HSTS_SECONDS = 31536000 if MINARA.is_https else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = MINARA.is_https
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF, "data:"],
        "connect-src": [SELF],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
        "base-uri": [NONE],
        "object-src": [NONE],
    }
}
DATA_UPLOAD_MAX_MEMORY_SIZE = SMALL_BODY
DATA_UPLOAD_MAX_NUMBER_FIELDS = 6000

LANGUAGE_CODE = "en"
LANGUAGES = [("en", _("English")), ("zh-hans", _("Simplified Chinese"))]
LOCALE_PATHS = [BASE_DIR / "minara_site" / "locale"]
USE_I18N = True
USE_TZ = True
TIME_ZONE = "UTC"

STATIC_URL = "static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
STATIC_ROOT = DATA_DIR / "static"
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"},
}
WHITENOISE_KEEP_ONLY_HASHED_FILES = True
WHITENOISE_SKIP_COMPRESS_EXTENSIONS = (*Compressor.SKIP_COMPRESS_EXTENSIONS, "map")
MESSAGE_STORAGE = "django.contrib.messages.storage.session.SessionStorage"

LOGGING = logging_config(MINARA.minara_log_level, as_json=MINARA.minara_log_format == "json")
LOGGING_CONFIG = "minara_site.kernel.logs.configure"
SILENCED_SYSTEM_CHECKS = ["security.W008"]  # the proxy redirects, see SECURE_SSL_REDIRECT
