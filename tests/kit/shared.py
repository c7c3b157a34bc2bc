"""Hostile and real input that lies beside the project; it is not part of it."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

SHARED = Path(__file__).resolve().parents[3] / "shared"


def shared_path(name: str) -> Path:
    """Return the file, or skip the test loudly; with CI=true a missing file fails."""
    path = SHARED / name
    if not path.exists():
        message = f"{path} is missing: this test needs it"
        if os.environ.get("CI") == "true":
            pytest.fail(message)
        pytest.skip(message)
    return path


def corpus(name: str) -> list[dict[str, Any]]:
    """Return the rows of a corpus file."""
    return [json.loads(line) for line in shared_path(f"corpora/{name}.jsonl").read_text().splitlines() if line.strip()]
