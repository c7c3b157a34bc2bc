"""The environment: typed, named once, and documented."""

import sys
from pathlib import Path

import pytest

from minara_site.config import Config, ConfigError, keep_fresh_key, load_config, open_data_folder, read_secret_key
from tests.kit.tables import table

EXAMPLE = Path(__file__).resolve().parents[2] / ".env.example"
HEAD = """\
# Every environment variable that Minara reads, with its default. Copy this file to `.env` beside it and take the `#`
# away from what you change; variables of the shell win over the file. A wrong value stops the start with one line.
"""


def render_example() -> str:
    """Return what `.env.example` has to hold."""
    parts = [HEAD]
    for name, field in Config.model_fields.items():
        default = "" if field.default in ("", (), None) or field.default_factory else str(field.default)
        default = default.lower() if field.annotation is bool else default
        parts.append(f"# {field.description}\n# {name.upper()}={default}\n")
    return "\n".join(parts)


def test_example_file_holds_every_variable_with_its_default_and_who_reads_it():
    assert EXAMPLE.read_text() == render_example()
    assert [name for name, field in Config.model_fields.items() if "Read by " not in field.description] == []


@table(
    ("name", "value", "line"),
    [
        ("DATABASE_URL", "mysql://u:canary@h/db", "must look like postgres://"),
        ("DATABASE_URL", "postgres://u:canary/x@h:5432/db", "special characters as %XX"),
        ("DATABASE_URL", "postgres://u:canary@h", "must look like postgres://"),
        ("MINARA_BROKER_URL", "http://u:canary@h", "must look like redis://"),
        ("MINARA_BROKER_URL", "amqp://u:canary/x@h:5672//", "special characters as %XX"),
        ("MINARA_JOBS", "cron", "'q2' or 'celery'"),
        ("EMBEDDING_BASE_URL", "https://u:canary@h/v1", "must hold no password"),
        ("EMBEDDING_BASE_URL", "https://h/v1?api-key=canary", "must hold no password"),
        ("MINARA_PUBLIC_URL", "ftp://example.com", "must look like https://"),
        ("MINARA_PUBLIC_URL", "https://example.com/console", "must look like https://"),
        ("MINARA_PUBLIC_URL", "https://example.com?a=b", "must look like https://"),
        ("MINARA_PUBLIC_URL", "https://user@example.com", "must look like https://"),
        ("MINARA_PUBLIC_URL", "https://*.example.com", "must look like https://"),
        ("MINARA_PUBLIC_URL", "https://example.com:port", "must look like https://"),
        ("MINARA_PUBLIC_URL", "https://example.com:65536", "Port out of range"),
        ("MINARA_ALLOWED_HOSTS", "a.example, https://b.example", "https://b.example is no host name"),
        ("MINARA_ALLOWED_HOSTS", "a.example:8000", "a.example:8000 is no host name"),
        ("MINARA_DEBUG", "perhaps", "valid boolean"),
        ("MINARA_LOG_FORMAT", "xml", "'json' or 'console'"),
        ("MINARA_LOG_LEVEL", "LOUD", "must be DEBUG"),
        ("MINARA_KEY_ENVIRONMENT", "PROD", "match pattern"),
        ("MINARA_KEY_EXPIRES_DAYS", "0", "greater than or equal to 1"),
        ("MINARA_JOB_WORKERS", "two", "valid integer"),
        ("MINARA_JOB_TIMEOUT_SECONDS", "9", "greater than or equal to 10"),
        ("FIN_PROFILE_MEMORY_SOFT_DELETE_RETENTION_DAYS", "-1", "greater than or equal to 1"),
        ("MINARA_SESSION_IDLE_HOURS", "1.5", "valid integer"),
        ("MINARA_LIMIT_READS_PER_MINUTE", "-1", "greater than or equal to 0"),
        ("MINARA_LIMIT_WRITES_PER_MINUTE", "many", "valid integer"),
        ("MINARA_MODEL_PRICES", '{"canary": ', "must be JSON"),
        ("MINARA_MODEL_PRICES", '{"m": {"input": 1}}', "Field required"),
        ("MINARA_MODEL_PRICES", '{"m": {"input": -1, "output": 1}}', "greater than or equal to 0"),
        ("ANTHROPIC_BASE_URL", "https://u:canary@h", "must hold no password"),
        ("ANTHROPIC_BASE_URL", "https://h/#canary", "must hold no password"),
        ("MINARA_TRUSTED_PROXIES", "10.0.0.0/8, proxy.example", "'proxy.example' does not appear to be"),
    ],
)
def test_names_the_wrong_variable_in_one_line(monkeypatch, name, value, line):
    monkeypatch.setenv(name, value)
    with pytest.raises(ConfigError) as refusal:
        load_config()
    text = str(refusal.value)
    assert text.startswith(f"{name}: ")
    assert line in text
    assert "\n" not in text
    assert "canary" not in text


def test_celery_asks_for_its_broker_and_its_packages(monkeypatch):
    monkeypatch.setenv("MINARA_JOBS", "celery")
    with pytest.raises(ConfigError, match="MINARA_BROKER_URL: is needed with MINARA_JOBS=celery"):
        load_config()
    monkeypatch.setenv("MINARA_BROKER_URL", "redis://h")
    load_config()
    monkeypatch.setitem(sys.modules, "celery", None)
    with pytest.raises(ConfigError, match=r"pip install 'minara\[scale\]'"):
        load_config()


def test_reads_lists_at_commas_and_an_empty_variable_as_its_default(monkeypatch):
    monkeypatch.setenv("MINARA_ALLOWED_HOSTS", "a.example, b.example ,")
    monkeypatch.setenv("MINARA_TRUSTED_PROXIES", "10.1.2.3/8, 2001:db8::7")
    monkeypatch.setenv("MINARA_JOB_WORKERS", "")
    config = load_config()
    assert config.minara_allowed_hosts == ("a.example", "b.example")
    assert [str(network) for network in config.minara_trusted_proxies] == ["10.0.0.0/8", "2001:db8::7/128"]
    assert config.minara_job_workers == 1


@table(
    ("in_file", "in_shell", "said"),
    [
        ("ANTHROPIC_API_KEY=canary", {"ANTHROPIC_BASE_URL": "https://a.example"}, "from the environment and"),
        ("ANTHROPIC_BASE_URL=https://a.example", {"ANTHROPIC_API_KEY": "canary"}, "from .env and"),
        ("ANTHROPIC_BASE_URL=https://a.example", {"anthropic_api_key": "canary"}, "from .env and"),
        ("ANTHROPIC_API_KEY=a\nANTHROPIC_BASE_URL=https://a.example", {"ANTHROPIC_API_KEY": "canary"}, "from .env and"),
        ("ANTHROPIC_API_KEY=canary\nANTHROPIC_BASE_URL=https://a.example", {}, ""),
        ("ANTHROPIC_API_KEY=canary\nANTHROPIC_BASE_URL=https://a.example", {"ANTHROPIC_API_KEY": ""}, ""),
        ("", {"ANTHROPIC_API_KEY": "canary", "ANTHROPIC_BASE_URL": "https://a.example"}, ""),
        ("ANTHROPIC_API_KEY=a", {"ANTHROPIC_API_KEY": "canary", "ANTHROPIC_BASE_URL": "https://a.example"}, ""),
        ("ANTHROPIC_API_KEY=canary", {}, ""),
        ("", {"ANTHROPIC_BASE_URL": "https://a.example"}, ""),
    ],
)
def test_a_key_and_an_address_of_the_models_come_from_the_same_place(tmp_path, monkeypatch, in_file, in_shell, said):
    (tmp_path / ".env").write_text(in_file)
    monkeypatch.setitem(Config.model_config, "env_file", tmp_path / ".env")
    for name, value in in_shell.items():
        monkeypatch.setenv(name, value)
    if not said:
        load_config()
        return
    with pytest.raises(ConfigError) as refusal:
        load_config()
    assert str(refusal.value).startswith(f"ANTHROPIC_BASE_URL: comes {said} ANTHROPIC_API_KEY from ")
    assert "set both in the same place" in str(refusal.value)
    assert "canary" not in str(refusal.value)


@table(
    ("typed", "url", "host"),
    [
        ("HTTPS://Minara.Example.com/", "https://minara.example.com", "minara.example.com"),
        ("http://[2001:DB8::1]:8000", "http://[2001:db8::1]:8000", "[2001:db8::1]"),
    ],
)
def test_the_public_address_is_spelled_as_browsers_do(typed, url, host):
    config = Config(minara_public_url=typed)
    assert (config.minara_public_url, config.public_host) == (url, host)


def test_a_file_of_variables_that_is_no_text_is_one_line(tmp_path, monkeypatch):
    (tmp_path / ".env").write_bytes(b"MINARA_DEBUG=\xff")
    monkeypatch.setitem(Config.model_config, "env_file", tmp_path / ".env")
    with pytest.raises(ConfigError, match=r"\.env: cannot be read"):
        load_config()


def test_keeps_one_secret_key(tmp_path):
    first = read_secret_key(Config(), tmp_path)
    assert len(first) >= 64
    assert read_secret_key(Config(), tmp_path) == first
    assert [path.name for path in tmp_path.iterdir()] == ["secret_key"]
    assert (tmp_path / "secret_key").stat().st_mode & 0o777 == 0o600
    assert read_secret_key(Config(minara_secret_key="chosen"), tmp_path) == "chosen"


def test_another_start_may_make_the_secret_key_first(tmp_path):
    (tmp_path / "secret_key").write_text("theirs")
    keep_fresh_key(tmp_path / "secret_key")
    assert read_secret_key(Config(), tmp_path) == "theirs"
    assert len(list(tmp_path.iterdir())) == 1


@table(("content", "reason"), [(b"", "is empty"), (b"\xff", "cannot be read")])
def test_says_so_when_the_secret_key_cannot_be_used(tmp_path, content, reason):
    (tmp_path / "secret_key").write_bytes(content)
    with pytest.raises(ConfigError, match=f"MINARA_DATA_DIR: .*secret_key {reason}"):
        read_secret_key(Config(), tmp_path)


def test_makes_the_data_folder_or_says_why_it_cannot(tmp_path):
    folder = tmp_path / "new" / "data"
    assert open_data_folder(Config(minara_data_dir=folder)) == folder
    assert folder.stat().st_mode & 0o777 == 0o700
    (tmp_path / "file").touch()
    with pytest.raises(ConfigError, match=r"MINARA_DATA_DIR: .* cannot be made: Not a directory"):
        open_data_folder(Config(minara_data_dir=tmp_path / "file" / "data"))
