"""The job that makes backups on a schedule while MINARA_BACKUP_DIR names a folder."""

from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

from django.conf import settings
from django.utils.translation import gettext as _

from minara_site.kernel.backup.archive import read_manifest
from minara_site.kernel.backup.selectors import MAKE
from minara_site.kernel.backup.services import STAMP, make_backup
from minara_site.kernel.errors import Refused
from minara_site.kernel.instance.services import get_instance_id
from minara_site.kernel.jobs.services import Claim, report_progress

ACTOR = f"job:{MAKE}"
EVERY = timedelta(hours=settings.MINARA.minara_backup_every_hours) if settings.MINARA.minara_backup_dir else None


def make(*, now: datetime, claim: Claim | None = None) -> dict[str, Any]:
    """Write `minara-<time>.zip` and delete the oldest of ours beyond MINARA_BACKUPS_KEPT. Raises Refused."""
    folder = settings.MINARA.minara_backup_dir
    if folder is None:
        raise Refused(_("No folder for backups is set. Set MINARA_BACKUP_DIR, then start Minara again."))
    made = make_backup(
        folder / f"minara-{now:{STAMP}}.zip", now=now, actor=ACTOR, progress=partial(report_progress, claim)
    )
    return {"bytes": made.size, "deleted": delete_oldest(folder, kept=settings.MINARA.minara_backups_kept)}


def delete_oldest(folder: Path, *, kept: int) -> int:
    """Delete this instance's oldest backups; a file that is not whole, or not ours, neither counts nor goes."""
    instance, old = get_instance_id(), []
    for path in sorted(folder.glob("minara-*T*Z.zip")):
        manifest = read_manifest(path)
        if manifest and manifest.instance == instance and path.name == f"minara-{manifest.created_at:{STAMP}}.zip":
            old.append(path)
    old = old[:-kept]
    for path in old:
        path.unlink()
    return len(old)
