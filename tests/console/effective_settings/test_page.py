"""The variables of the environment as this process reads them."""

import pytest
from django.conf import settings
from django.core.management import call_command

from minara_site.config import SECRETS, Config
from minara_site.console.effective_settings.selectors import Origin, list_variables
from tests.web.catalogue import in_module

SECRET = "never" + "shown"


@pytest.fixture
def config(monkeypatch, tmp_path):
    """A configuration with values from both places; everything else has its default."""
    for name in Config.model_fields:
        monkeypatch.delenv(name.upper(), raising=False)
    (tmp_path / ".env").write_text(f"MINARA_JOB_WORKERS=3\nGATEWAY_AUTH_TOKEN={SECRET}\n")
    monkeypatch.setenv("MINARA_LOG_LEVEL", "debug")
    monkeypatch.setenv("MINARA_ALLOWED_HOSTS", "a.example,b.example")
    monkeypatch.setenv("MINARA_DEBUG", "")
    monkeypatch.chdir(tmp_path)
    return Config(_env_file=".env")


def variables(config):
    return {each.name: each for _reader, group in list_variables(config) for each in group}


def test_names_every_variable_with_value_and_origin(config):
    found = variables(config)
    assert set(found) == {name.upper() for name in Config.model_fields}
    expected = {
        "MINARA_LOG_LEVEL": ("DEBUG", "INFO", Origin.ENVIRONMENT),
        "MINARA_ALLOWED_HOSTS": ("a.example, b.example", "", Origin.ENVIRONMENT),
        "MINARA_JOB_WORKERS": ("3", "1", Origin.FILE),
        "MINARA_DEBUG": ("false", "false", Origin.DEFAULT),
    }
    for name, wanted in expected.items():
        assert (found[name].value, found[name].default, found[name].origin) == wanted


def test_every_description_is_marked_for_translation(config):
    marked = set(in_module(settings.BASE_DIR / "minara_site/config.py"))
    assert [each.name for each in variables(config).values() if each.description not in marked] == []


def test_says_of_a_secret_only_whether_it_is_set(config):
    found = variables(config)
    assert {name for name, each in found.items() if each.is_secret} == set(SECRETS)
    assert found["GATEWAY_AUTH_TOKEN"].is_set
    assert not found["DATABASE_URL"].is_set
    assert SECRET not in repr(found)


def test_groups_by_who_reads_them(config):
    groups = dict(list_variables(config))
    assert "MINARA_JOB_WORKERS" in {each.name for each in groups["jobs"]}
    assert all(reader for reader in groups)


@pytest.mark.django_db
def test_page_and_command_show_them_without_secrets(operator_page, config, settings, capsys):
    settings.MINARA = config
    page = operator_page.get("/ops/settings/").content.decode()
    call_command("settings")
    printed = capsys.readouterr().out
    assert "MINARA_JOB_WORKERS=3  (.env)" in printed
    assert "GATEWAY_AUTH_TOKEN=set  (.env)" in printed
    for text in (page, printed):
        assert "MINARA_PUBLIC_URL" in text
        assert SECRET not in text
