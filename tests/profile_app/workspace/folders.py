"""Folders of agent files as people keep them, and what stands in the database after a reading."""

from pathlib import Path
from typing import Any

from profile_app.documents.core import WORKSPACE_FILE, Origin
from profile_app.documents.models import Document
from profile_app.documents.selectors import find_document
from profile_app.workspace.services import sync_workspace
from profile_app.workspace.services.files import write_file
from profile_app.workspace.services.setup import set_up
from tests.kit.clock import NOON

OPENCLAW = {
    "SOUL.md": "---\nsummary: persona\nread_when: always\n---\n\n# SOUL\n\nBe *brief*.\u3000\u7b80\u6d01\u3002 \U0001f989\n",
    "AGENTS.md": "# AGENTS\r\n\r\n| when | what |\r\n|---|---|\r\n| start | read USER.md |\r\n",
    "USER.md": "# \u7528\u6237\n\n- \u59d3\u540d\uff1a\u6885\n- \u65f6\u533a\uff1aAsia/Shanghai\n",
    "MEMORY.md": "- no new line at the end",
    "IDENTITY.md": "- **Name:** Juno\n- **Emoji:** \U0001f989\n",
    "memory/2026-06-11.md": "# 11 June\n\n```\n## Schedule\n```\n",
    "memory/2026-06-12.md": "mixed\r\nline\nends\r",
}
OTHERS = {"README.md": b"mine", "memory/plan.txt": b"mine", ".git/config": b"[core]", "skills/a/SKILL.md": b"# A"}


def fill(folder: Path, files: dict[str, str] | dict[str, bytes]) -> None:
    """Write files."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode() if isinstance(text, str) else text)


def bytes_in(folder: Path) -> dict[str, bytes]:
    """Return what a folder holds besides the mark."""
    paths = [path for path in folder.rglob("*") if path.is_file() and path.name != ".minara"]
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


def texts_of(owner: Any) -> dict[str, str]:
    """Return the texts in force."""
    return dict(Document.objects.filter(owner=owner, kind=WORKSPACE_FILE, version__gt=0).values_list("name", "content"))


def attach(owner: Any, folder: Path) -> None:
    """Point at a folder."""
    set_up(owner=owner, path=folder, actor="command:setup", now=NOON)


def sync(owner: Any) -> list[tuple[str, str]]:
    """Read the folder; return names and codes of what is wrong."""
    return [(each["name"], each["code"]) for each in sync_workspace(owner=owner, now=NOON)]


def write(owner: Any, name: str, content: str, **options: Any) -> Any:
    """Write a file on its page, which says nothing to the folder before a commit."""
    fields = {"origin": Origin.PAGE, "actor": f"user:{owner.pk}", "now": NOON, **options}
    return write_file(owner=owner, name=name, content=content, **fields)


def document(owner: Any, name: str) -> Document:
    """Return a document."""
    found = find_document(owner=owner, kind=WORKSPACE_FILE, name=name)
    assert found
    return found
