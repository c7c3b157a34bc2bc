"""The last step of a restore: what was unpacked takes the place of what was there, one rename after the other.

Unpacking fills `restore-<time>.part`, which counts for nothing; its rename to `restore-<time>.ready` decides. A kill
before it leaves the old state. One after it leaves what the next command of any kind finishes when it starts, before it
reads the secret key or opens a database: each name is moved to its place once, and what was there goes to
`before-restore-<time>` first. Nothing here needs Django or a setting.
"""

import fcntl
import os
import shutil
from pathlib import Path

PART, READY = ".part", ".ready"
BESIDE = ("", "-wal", "-shm")  # what SQLite keeps beside a database


def finish_restore(folder: Path) -> None:
    """Finish the restore that was decided, if any. Of several processes one does and the others wait."""
    if not any(folder.glob(f"restore-*{READY}")):
        return
    lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for ready in folder.glob(f"restore-*{READY}"):
            shutil.rmtree(folder / "cache", ignore_errors=True)  # of the old state
            for new in sorted(ready.iterdir()):
                for old in filter(
                    Path.exists,
                    (folder / f"{new.name}{end}" for end in BESIDE),
                ):
                    kept_at(ready).mkdir(mode=0o700, exist_ok=True)
                    old.rename(kept_at(ready) / old.name)
                new.rename(folder / new.name)
            ready.rmdir()
        os.fsync(lock)
    finally:
        os.close(lock)


def kept_at(unpacked: Path) -> Path:
    """Return the folder of what a restore replaces."""
    return unpacked.with_name(f"before-{unpacked.stem}")
