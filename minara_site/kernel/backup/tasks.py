"""The job that makes backups on a schedule while MINARA_BACKUP_DIR names a folder."""

import zipfile
from datetime import datetime
from pathlib import Path
from typing import Any

from django.conf import settings

from minara_site.kernel.backup.archive import MANIFEST, Manifest
from minara_site.kernel.backup.services import STAMP, make_backup
from minara_site.kernel.core.zips import BROKEN
from minara_site.kernel.instance.services import get_instance_id


def make(*, now: datetime) -> dict[str, Any] | None:
    """Write `minara-<time>.zip` and delete the oldest of ours beyond MINARA_BACKUPS_KEPT. Raises Refused."""
    folder, kept = settings.MINARA.minara_backup_dir, settings.MINARA.minara_backups_kept
    if folder is None:
        return None
    size = make_backup(
        folder / f"minara-{now:{STAMP}}.zip",
        now=now,
        actor="job:backup.make",
    )
    old = [path for path in sorted(folder.glob("minara-*Z.zip")) if is_ours(path)][:-kept]
    for path in old:
        path.unlink()
    return {"bytes": size, "deleted": len(old)}


def is_ours(path: Path) -> bool:
    """Say whether a file ends as a backup does, is of this instance, and named by this job."""
    try:
        with zipfile.ZipFile(path) as archive:
            found = Manifest.model_validate_json(archive.read(MANIFEST))
    except (*BROKEN, KeyError):  # a member is missing
        return False
    return found.instance == get_instance_id() and path.name == f"minara-{found.created_at:{STAMP}}.zip"
