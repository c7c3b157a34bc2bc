"""Exports, imports and files for the tests of the round trip."""

import hashlib
from pathlib import Path
from typing import Any

from django.db import connection

from memory_app.bundle.adapters import Bundle
from memory_app.bundle.core.plan import FilePlan, ImportPlan, ImportReport
from memory_app.bundle.selectors import plan_import
from memory_app.bundle.services import apply_import, export_bundle
from tests.kit.clock import NOON

ACTOR = "command:import"


def export(owner: Any, folder: Path, *, sign: bool = True, constraints: bool = False, **options: Any) -> Path:
    """Export somebody's memories and return the folder."""
    wanted = {"sign": sign, "include_constraints": constraints, **options}
    export_bundle(**{"owner": owner, "folder": folder, "now": NOON, "actor": "command:memory", **wanted})
    return folder


def in_memory(files: dict[str, bytes]) -> Bundle:
    """Return a bundle that lies nowhere."""
    return Bundle(tuple(sorted(files)), files.__getitem__)


def load(folder: Path) -> dict[str, bytes]:
    """Return the files of a folder by their relative paths."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def look(owner: Any, bundle: Bundle, **options: Any) -> ImportPlan:
    """Return what an import would do."""
    return plan_import(owner=owner, bundle=bundle, now=NOON, **options)


def bring(owner: Any, bundle: Bundle, **options: Any) -> ImportReport:
    """Import a bundle as shown."""
    plan = look(owner, bundle, **options)
    return apply_import(
        owner=owner,
        plan_sha256=plan.sha256,
        bundle=bundle,
        actor=f"user:{owner.pk}",
        now=NOON,
        **options,
    )


def by_path(plan: ImportPlan) -> dict[str, FilePlan]:
    """Return the files of a plan."""
    return {file.path: file for file in plan.files}


def memory_file(content: str = "ETH looks heavy", *, category: str = "observation", **fields: Any) -> bytes:
    """Return a file as somebody types it."""
    head = {"schema_version": 1, "category": category} | fields
    lines = "".join(f"{name}: {value}\n" for name, value in head.items())
    return f"---\n{lines}---\n{content}\n".encode()


def hash_of_database() -> str:
    """Return the SHA-256 over every row of every table."""
    digest = hashlib.sha256()
    with connection.cursor() as cursor:
        for table in sorted(connection.introspection.table_names(cursor)):
            cursor.execute(f"SELECT * FROM {connection.ops.quote_name(table)}")
            digest.update(repr((table, sorted(map(repr, cursor.fetchall())))).encode())
    return digest.hexdigest()
