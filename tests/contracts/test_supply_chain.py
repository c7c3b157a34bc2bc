"""What Minara is built of: locked to hashes, served from here, and the same files as when somebody last looked (W-27)."""

import hashlib
import re
import subprocess
import sys
from pathlib import Path

from django.conf import settings
from django.contrib.staticfiles import finders
from django.template import Context, Template

from tests.kit.tables import table

ROOT = Path(settings.BASE_DIR)
LOCKS = [ROOT / "requirements/base.txt", ROOT / "requirements/dev.txt"]
REQUIREMENT = re.compile(
    r"^([a-z0-9.-]+)(?:\[[a-z, -]+\])?==[^ ;]+(?: ; [^\\]+)?((?: \\\n    --hash=sha256:[0-9a-f]{64})+)$",
    re.MULTILINE,
)
NAME = re.compile(r"^[A-Za-z0-9][A-Za-z0-9._-]*")
ASSETS = {
    "django_htmx/htmx-2.min.js": "71ea67185bfa8c98c39d31717c6fce5d852370fcdfd129db4543774d3145c0de",
    "ninja/swagger-ui-bundle.js": "93b7b0862a80e2786f85b560be7693c2344354ffa7e7e224f850a54349724c31",
    "ninja/swagger-ui-init.js": "701582e1d64799a23349becd0a580a5113b915f3e129051108851fd64cd31675",
    "ninja/swagger-ui.css": "9e576f8322132c76949da47f9bb53c891373c303ea3a761ff548ffc9de50a98c",
}


def locked(path):
    return {match[1] for match in REQUIREMENT.finditer(path.read_text())}


def asked(path):
    lines = path.read_text().splitlines()
    return {NAME.match(line)[0].lower().replace("_", "-").replace(".", "-") for line in lines if NAME.match(line)}


@table("path", LOCKS, ids=lambda path: path.name)
def test_every_requirement_is_one_version_with_its_hashes(path):
    begun = [line for line in path.read_text().splitlines() if line and line[0] not in " #"]
    assert len(begun) == len(locked(path)) > 20
    assert asked(path.with_suffix(".in")) <= locked(path)


def test_production_and_tests_lock_the_same_versions():
    version = re.compile(r"^([a-z0-9-]+)(?:\[[a-z, -]+\])?(==\S+)", re.MULTILINE)
    base, dev = (set(version.findall(path.read_text())) for path in LOCKS)
    assert len(base) > 20
    assert base <= dev


def test_nothing_is_loaded_from_elsewhere():
    """Pages show addresses of others at most; no script or style names one."""
    loaders = re.compile(r"""(?:src|href|import|url\(|fetch\(|from)\s*[=(]?\s*["']?\s*(?:https?:)?//""")
    sources = [*ROOT.glob("templates/**/*.html"), *ROOT.glob("static/css/*.css"), *ROOT.glob("static/js/*.js")]
    assert len(sources) > 50
    assert [path.name for path in sources if loaders.search(path.read_text())] == []


@table("name", ASSETS)
def test_a_file_of_a_package_is_the_one_that_was_looked_at(name):
    """After an upgrade: read what changed in the file, then write its new hash here."""
    assert hashlib.sha256(Path(finders.find(name)).read_bytes()).hexdigest() == ASSETS[name]


def test_pages_load_no_file_of_a_package_but_these():
    tag = Template("{% load django_htmx %}{% htmx_script version=2 %}").render(Context())
    loaded = set(re.findall(r'src="[^"]*static/([^"]+)"', tag))
    own = {str(path.relative_to(ROOT / "static")) for path in (ROOT / "static").rglob("*.*")}
    for path in ROOT.glob("templates/**/*.html"):
        loaded |= set(re.findall(r"""{% static ["']([^"']+)["'] %}""", path.read_text()))
    assert loaded - own <= set(ASSETS)
    assert "js/minara.js" in loaded
    assert "django_htmx/htmx-2.min.js" in loaded


def test_an_audit_without_data_does_not_pass(tmp_path):
    """An index that knows no vulnerabilities, or none at all, is not the same as none found."""
    (tmp_path / "pip-audit").write_text(
        '#!/bin/sh\necho \'{"dependencies": [{"name": "a", "skip_reason": "not found"}]}\'\n'
    )
    assert audit(tmp_path) == 75
    (tmp_path / "pip-audit").write_text("#!/bin/sh\necho no connection >&2; exit 1\n")
    assert audit(tmp_path) == 75
    (tmp_path / "pip-audit").write_text(
        '#!/bin/sh\necho \'{"dependencies": [{"name": "a", "version": "1", "vulns": []}]}\'\n'
    )
    assert audit(tmp_path) == 0
    hole = '{"id": "X-1", "fix_versions": ["2"]}'
    (tmp_path / "pip-audit").write_text(
        f'#!/bin/sh\necho \'{{"dependencies": [{{"name": "a", "version": "1", "vulns": [{hole}]}}]}}\'\nexit 1\n'
    )
    assert audit(tmp_path) == 1


def audit(folder):
    """Run the audit with the folder's pip-audit; return its exit code."""
    python, tool = folder / "python", folder / "pip-audit"
    tool.chmod(0o755)
    if not python.exists():
        python.symlink_to(sys.executable)
    return subprocess.run([python, ROOT / ".ci/audit"], cwd=ROOT, check=False, capture_output=True).returncode
