"""The files of deploy/, each read by the program that it is for; what they start and set is what the product has."""

import os
import re
import shutil
import subprocess
import sys
from itertools import count
from pathlib import Path

import pytest
import yaml
from django.conf import settings
from django.core.management import get_commands

from minara_site.config import Config
from tests.kit.tables import table

DEPLOY = Path(settings.BASE_DIR) / "deploy"
UNITS = sorted(DEPLOY.glob("systemd/*.service"))
COMPOSE = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
VARIABLE = re.compile(r"^# ?([A-Z_]+)=|^([A-Z_]+)=", re.MULTILINE)


def program(name):
    """Return the path of a validator, which CI has."""
    found = shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin:{Path(sys.executable).parent}")
    if found is None and os.environ.get("CI") != "true":
        pytest.skip(f"{name} is missing")
    assert found, f"{name} is missing"
    return found


def check(*command):
    """Run a validator; it must not only succeed but have nothing to say against the file."""
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_compose_file_is_one():
    check(
        program("check-jsonschema"),
        "--builtin-schema",
        "vendor.compose-spec",
        str(DEPLOY / "compose.yaml"),
    )
    assert set(COMPOSE["services"]) == {"web", "worker", "beat", "postgres", "redis"}
    named = {each.partition(":")[0] for service in COMPOSE["services"].values() for each in service.get("volumes", ())}
    assert {name for name in named if not name.startswith(".")} == set(COMPOSE["volumes"])


@table("unit", UNITS, ids=lambda path: path.stem)
def test_units_are_read_by_systemd(unit, tmp_path):
    """The program that a unit starts lies elsewhere here; any other word of systemd's is a fault."""
    text = unit.read_text().replace("/opt/minara/.venv/bin/minara", "/bin/true").replace("file:/opt/", "file:/srv/")
    copy = tmp_path / unit.name
    copy.write_text(text)
    assert "minara" not in check(program("systemd-analyze"), "verify", "--man=no", str(copy))


def test_proxy_is_read_by_nginx(tmp_path):
    certificate, key = tmp_path / "minara.pem", tmp_path / "minara.key"
    check(
        program("openssl"), "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=minara.example.com",
        "-keyout", str(key), "-out", str(certificate),
    )  # fmt: skip
    text = (DEPLOY / "nginx.conf").read_text()
    text = text.replace("/etc/ssl/certs/minara.pem", str(certificate)).replace("/etc/ssl/private/minara.key", str(key))
    number = count()  # nginx opens what it listens on, and here nobody may hold a port
    text = re.sub(r"listen \S+?(?= ssl;|;)", lambda _found: f"listen unix:{tmp_path}/{next(number)}", text)
    (tmp_path / "whole.conf").write_text(
        f"pid {tmp_path}/pid; error_log stderr; events {{}} http {{ access_log off; {text} }}"
    )
    check(program("nginx"), "-t", "-q", "-c", str(tmp_path / "whole.conf"))


def test_what_is_started_exists():
    asked = [service["command"] for service in COMPOSE["services"].values() if service.get("image") == "minara"]
    asked += [
        line.split() for unit in UNITS for line in re.findall(r"^ExecStart=(.*)$", unit.read_text(), re.MULTILINE)
    ]
    asked = [command for command in asked if Path(command[0]).name == "minara"]
    assert len(asked) == 6
    assert {command[1] for command in asked} == {"up", "worker", "beat"} <= set(get_commands())


def test_variables_that_are_set_are_read():
    text = (DEPLOY / "minara.env.example").read_text()
    names = {first or second for first, second in VARIABLE.findall(text)}
    assert len(names) > 10
    assert {name.lower() for name in names} <= set(Config.model_fields)


def test_image_holds_what_the_product_is_made_of():
    copied = set(re.findall(r"^COPY (\S+) \S+$", (DEPLOY / "Dockerfile").read_text(), re.MULTILINE))
    assert {"minara_site", "memory_app", "learning_app", "profile_app", "templates", "static", "requirements"} <= copied
    locks = re.findall(r"-r (requirements/\S+)", (DEPLOY / "Dockerfile").read_text())
    assert locks
    assert all((Path(settings.BASE_DIR) / lock).exists() for lock in locks)
