"""Other people's requests beside 200 sockets that stall, against the same without them; `minara up` as it is."""

import os
import statistics
import subprocess
import sys
from functools import partial
from pathlib import Path

from tests.bench.figures import Figure, percentile, timed
from tests.bench.http import build
from tests.kit.site import ROOT
from tests.kit.slow import KeptConnection, count_ended, slow_sockets

PORT = 8798
MOST = 2.0
CALLS = (("GET", "/v1/memory/search?q=slippage"), ("GET", "/login"), ("GET", "/healthz"), ("POST", "/mcp"))


def run(scratch: Path, *, small: bool = False) -> list[Figure]:
    """Measure in turns, so that both see the same machine; the callers keep their connections over all of it."""
    sockets, calls, rounds = (20, 40, 1) if small else (200, 400, 5)
    key = build(2_000)
    command = [sys.executable, str(ROOT / "manage.py"), "up", "--port", str(PORT)]
    environment = os.environ | {"MINARA_LIMIT_READS_PER_MINUTE": "0"}
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        assert any("Ready" in line for line in process.stdout)
        kept = [KeptConnection(PORT) for _each in range(4)]
        measure(kept, key, calls)
        alone, beside = [], {1: [], sockets: []}
        for _round in range(rounds):
            alone.append(measure(kept, key, calls))
            for addresses, found in beside.items():
                with slow_sockets(PORT, sockets, addresses=addresses) as stalled:
                    found.append(measure(kept, key, calls))
                    assert count_ended(stalled) == 0, "they were cut before the round was over"
    finally:
        process.terminate()
        process.wait(60)
    reference = statistics.median(alone)
    figures = []
    for addresses, found in beside.items():
        ratio = statistics.median(found) / reference
        name = f"slow sockets p95 ratio, {sockets} from {addresses} address{'es' * (addresses > 1)}"
        figures.append(
            Figure(
                name,
                ratio,
                "x",
                "<= 2",
                ratio <= MOST,
                f"{reference * 1000:.1f} ms without them",
            )
        )
    return figures


def measure(kept: list[KeptConnection], key: str, calls: int) -> float:
    """Return the p95 of the seconds of so many calls. Raises when a kept connection was cut."""
    headers = {"Authorization": f"Bearer {key}"}
    samples = []
    for number in range(calls):
        method, path = CALLS[number % len(CALLS)]
        body = b"{}" if method == "POST" else b""
        samples.append(timed(partial(kept[number % len(kept)].call, method, path, body, **headers)))
    return percentile(samples, 0.95)
