"""Files behind the pages: small enough, complete, and nothing that a strict content policy would refuse (W-07, U-35)."""

import gzip
import re
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.staticfiles import finders
from django.core.management import call_command
from django.template import Context, Template
from django.template.loader import render_to_string

from tests.kit.tables import table

STYLES = ["tokens", "base", "components", "pages"]
SCRIPTS = ["js/minara.js", "django_htmx/htmx-2.min.js"]
TEMPLATES = sorted(Path(settings.BASE_DIR, "templates").rglob("*.html"))
PYTHON = sorted(
    path
    for path in Path(settings.BASE_DIR).glob("*/**/*.py")
    if "tests" not in path.parts and ".venv" not in path.parts
)
ICON = re.compile(r"""(?:{% icon |icon=|Empty\(\s*|icon:\s*)["']([a-z]+)["']""")


def gzipped(name: str) -> int:
    found = finders.find(name)
    assert found, name
    return len(gzip.compress(Path(str(found)).read_bytes()))


def read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def test_scripts_stay_under_60_kb_and_styles_under_40_kb() -> None:
    assert sum(map(gzipped, SCRIPTS)) <= 60_000
    assert sum(gzipped(f"css/{name}.css") for name in STYLES) <= 40_000


class TestTemplates:
    @table("path", TEMPLATES, ids=lambda path: path.name)
    def test_no_template_needs_an_exception(self, path: Path) -> None:
        source = read(path)
        assert not re.search(r"\sstyle=|<style|javascript:|\son[a-z]+=|hx-on|hx-vars", source)
        assert not re.search(r"<script(?! src=)", source)
        assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", source)

    @table("path", [path for path in TEMPLATES if path.name.startswith("_")], ids=lambda path: path.name)
    def test_a_fragment_says_what_it_needs_in_its_first_line(self, path: Path) -> None:
        assert read(path).removeprefix("{% joined %}\n  ").startswith("{# inputs"), path

    @table("name", STYLES)
    def test_no_style_sheet_loads_anything(self, name: str) -> None:
        source = read(Path(str(finders.find(f"css/{name}.css"))))
        assert "url(" not in source
        assert "@import" not in source

    def test_a_page_is_sent_without_the_indents_of_its_template(self) -> None:
        text = "two lines\n  of somebody"
        page = render_to_string("parts/empty.html", {"icon": "memory", "title": "Nothing", "text": text})
        assert [line for line in page.splitlines() if line.startswith(" ")] == ["  of somebody</p>"]
        assert len(page.splitlines()) == len(read(settings.BASE_DIR / "templates/parts/empty.html").splitlines()) + 1

    def test_htmx_is_tamed(self) -> None:
        source = read(settings.BASE_DIR / "templates/base_document.html")
        off = ('"includeIndicatorStyles": false', '"allowEval": false', '"historyCacheSize": 0')
        assert [wanted for wanted in (*off, '"selfRequestsOnly": true') if wanted not in source] == []


class TestIcons:
    def test_every_icon_that_is_asked_for_is_drawn(self) -> None:
        drawn = set(re.findall(r'id="i-([a-z]+)"', read(Path(str(finders.find("img/icons.svg"))))))
        asked = {name for path in [*TEMPLATES, *PYTHON] for name in ICON.findall(read(path))}
        assert asked - drawn == set()

    def test_the_hashed_file_is_linked_with_its_fragment(self, settings: Any, tmp_path: Path) -> None:
        storage = {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"}
        settings.STORAGES = {**settings.STORAGES, "staticfiles": storage}
        settings.STATIC_ROOT = tmp_path
        call_command("collectstatic", interactive=False, verbosity=0, ignore_patterns=["*.css", "*.js"])
        html = Template('{% icon "memory" %}').render(Context())
        found = re.search(r'href="/static/(img/icons\.[0-9a-f]{12}\.svg)#i-memory"', html)
        assert found
        assert (tmp_path / found[1]).exists()
