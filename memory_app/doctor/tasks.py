"""The doctor's job: one run of fixes, dry or applied. Its result stands flat, `<fix>.<what>`, for the page of runs."""

from datetime import datetime
from typing import Any

from memory_app.doctor.services import apply_fixes, choose_fixes, dry_run_fixes
from minara_site.kernel.doctor.fixes import is_left
from minara_site.kernel.jobs.services import DROPPED, Claim


def run_fixes(
    *,
    names: list[str],
    apply: bool,
    actor: str,
    now: datetime,
    claim: Claim | None = None,
) -> dict[str, Any]:
    """Look or repair; a run that died and is taken up again does what is left and writes no second audit line."""
    chosen = choose_fixes(names)
    if apply:
        done = apply_fixes(chosen, actor=actor, now=now, claim=claim)
        counted = {f"{name}.{what}": count for name, counts in done.items() for what, count in counts.items()}
        return counted | ({"result": DROPPED} if all(map(is_left, done.values())) else {})
    result: dict[str, Any] = {}
    for name, foreseen in dry_run_fixes(chosen, claim=claim).items():
        result |= {f"{name}.{what}": count for what, count in foreseen.counts.items()}
        if foreseen.sample:
            result[f"{name}.ids"] = ", ".join(map(str, foreseen.sample))
        if foreseen.cost_usd:
            result[f"{name}.cost_usd"] = foreseen.cost_usd
    return result
