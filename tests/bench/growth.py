"""What takes time by the length of its text and not by its square, and no longer than it should (trust W-29, W-12).

A hostile text is a unit over and over between a start and an end. Its 10 kB and its 100 kB are measured right after each
other in processor time, because the clock of a processor changes; what misses the bound is measured again.
"""

import gc
import random
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from itertools import starmap
from math import inf
from pathlib import Path
from statistics import median
from typing import Any

from django.utils import timezone

from memory_app.edges.core import extract_edges
from memory_app.importers.core.markdown import read_blocks
from memory_app.importers.core.openclaw import parse_memory, parse_user
from memory_app.memories.core.destinations import find_destinations
from minara_site.access.keys.core import checksum, generate_key
from minara_site.access.keys.services import authenticate_key, create_key
from minara_site.access.models import User
from minara_site.access.policy import Scope
from minara_site.kernel.core.diff import word_diff
from minara_site.kernel.core.fence import fence_text
from minara_site.kernel.core.redact import redact_text
from minara_site.kernel.core.symbols import normalise_asset
from minara_site.kernel.core.text import tokenize
from minara_site.kernel.core.tickers import extract_finance_entities
from minara_site.kernel.errors import Unauthenticated
from tests.bench.figures import Figure
from tests.memory_app.importers.core.lines import lines

SMALL, LARGE = 10_000, 100_000
MOST = 12  # ten times the text, and a little for the machine
GRAIN = 1e-7  # seconds a character: what takes less is not told from the clock's noise
ATTEMPTS, ONCE = 6, 1
DIFF_MS = 50
PAIRS, FEW_PAIRS = 100, 3

Act = Callable[[str], object]


@dataclass(frozen=True)
class Hostile:
    """A text to be made as long as one likes."""

    unit: str
    start: str = ""
    end: str = ""

    def of(self, chars: int) -> str:
        """Return the text with its unit over so many characters."""
        return self.start + self.unit * (chars // len(self.unit)) + self.end


def hostile(*units: str, start: str = "", end: str = "") -> tuple[Hostile, ...]:
    """Return a hostile text for each unit."""
    return tuple(Hostile(unit, start, end) for unit in units)


SECRETS = ("eyJ", "a-", 'password="', "'\\", "://a:", "-----BEGIN PRIVATE KEY-----", "sk-", "abandon ", "QUJD", "key " + "a" * 64 + " ",
           "a" * 70 + ".", "Bearer ", "--a ", ",", " ")  # fmt: skip
EDGES = ("BTC ", "bought ", "bought BTC, ", "BTC, ", "not ", "BTC and ", "做多", "止损，", "比特币、", " ", "long closed ", ", BTC",
         "bought BTC sold ", "- ", "closed my the ", "BTC bought ")  # fmt: skip
BLOCKS = ((" ", "# a", "b"), ("#", "# a", "b"), (" #", "# a", "b"), (" ", "- ", ""), (" ", "---", "x"), ("-", "", "x"), (" ", "- a\n", "b"),
          ("<!---->", "", "x"), ("<!--\n", "", "x"), (" -->", "<!--", "x"), ("```\n", "", "x"))  # fmt: skip
PROFILE = tuple(
    each
    for key in ("", "ab", "ab:")
    for each in hostile("*", " ", "a", ":", "**:", "_(", start=f"- {key}", end="x\n  y")
)


def read_headings(text: str) -> list[Any]:
    """Read a file of memories whose blocks are under one long heading."""
    half = len(text) // 2
    return list(parse_memory(lines(f"# {text[:half]}\n" + "- a\n" * (half // 4))))


GROWING: tuple[tuple[str, Act, tuple[Hostile, ...]], ...] = (
    ("words of a text", lambda text: sum(1 for _ in tokenize(text)), hostile("a'", "1,000,", "1,", "止", "a\u0301", "_", "a1'b", "\u200b", "½")),
    ("text inside a fence", fence_text, hostile("<", "</memory-", "&#0", "<\u200b", "&lt", "<memory-context", "％3c<", "\\u003c<")),
    ("redaction of secrets", redact_text, hostile(*SECRETS, start="password=", end="x") + hostile(*SECRETS, end="=x")),
    ("tickers, chains and addresses", extract_finance_entities, hostile("aB1", "Ab ", "$a/", "on ", "0x", "EURUSD", "比特", "$", "a-b-")),
    ("name of an asset", normalise_asset, hostile("A", "$", "BTC/", "EUR", "比特币", " ")),
    ("edges", extract_edges, hostile(*EDGES)),
    ("wallet and web addresses", find_destinations, hostile("1A", "0x", "a.", "www.", "a://", "bc1q", "a-", "https:", "/", "x1Aa")),
    ("blocks of markdown", lambda text: list(read_blocks(lines(text))), tuple(starmap(Hostile, BLOCKS))),
    ("USER.md of an agent", lambda text: list(parse_user(lines(text))), PROFILE),
    ("MEMORY.md under a long heading", read_headings, hostile("a b ")),
)  # fmt: skip


def run(scratch: Path, *, small: bool = False) -> list[Figure]:
    """Measure every function with its hostile texts, then diffs of long texts and refusals of keys."""
    attempts = ONCE if small else ATTEMPTS
    figures = []
    for name, act, texts in GROWING:
        steepest = worst_growth(act, texts[:2] if small else texts, attempts=attempts)
        figures.append(growth_figure(f"{name}: 100 kB against 10 kB", steepest))
    return [*figures, measure_diffs(attempts), measure_refusals(FEW_PAIRS if small else PAIRS)]


@dataclass(frozen=True)
class Growth:
    """How many times the processor seconds of 10 kB a text takes at 100 kB, and those seconds."""

    ratio: float
    seconds: float
    unit: str


def measure_growth(act: Act, text: Hostile, *, attempts: int = ATTEMPTS, most_seconds: float = inf) -> Growth:
    """Return the growth of one text: the best of some attempts, as soon as it is within the bounds."""
    ratio = least = inf
    for _attempt in range(attempts):
        short, long = (seconds_of(act, text.of(chars)) for chars in (SMALL, LARGE))
        ratio, least = min(ratio, long / short), min(least, long)
        if ratio <= MOST and least < most_seconds:
            break
    return Growth(ratio, least, text.unit)


def worst_growth(act: Act, texts: Iterable[Hostile], *, attempts: int = ATTEMPTS) -> Growth:
    """Return the growth of the text that makes a function grow most."""
    return max((measure_growth(act, text, attempts=attempts) for text in texts), key=lambda each: each.ratio)


def growth_figure(name: str, steepest: Growth) -> Figure:
    """Return the growth of a function as a figure with its bound."""
    return Figure(
        name=name,
        value=steepest.ratio,
        unit="x",
        bound=f"at most {MOST}",
        ok=steepest.ratio <= MOST,
        reference=f"{steepest.unit[:20]!r} over and over",
    )


def measure_diffs(attempts: int) -> Figure:
    """Measure the slowest word diff of two texts of 4 000 characters."""
    taken, slowest = max(
        (least_seconds(lambda pair=pair: word_diff(*pair), attempts), kind) for kind, pair in long_pairs()
    )
    return Figure(
        name="slowest word diff of two texts of 4 000 characters",
        value=taken * 1000,
        unit="ms",
        bound=f"below {DIFF_MS}",
        ok=taken * 1000 < DIFF_MS,
        reference=slowest,
    )


def long_pairs() -> list[tuple[str, tuple[str, str]]]:
    """Return pairs of texts that are hard to compare."""
    dice = random.Random(7)
    han = ["".join(chr(0x4E00 + dice.randrange(300)) for _ in range(4_000)) for _ in range(2)]
    noise = ["".join(dice.choice("ab ") for _ in range(4_000)) for _ in range(2)]
    return [
        ("unlike Han", (han[0], han[1])),
        ("repeats", ("a " * 2_000, " a" * 2_000)),
        ("signs", ("!?" * 2_000, "?;" * 2_000)),
        ("noise", (noise[0], noise[1])),
        ("one word changed", ("stop " * 800, "stop " * 400 + "trail " + "stop " * 399)),
    ]


def measure_refusals(pairs: int) -> Figure:
    """Measure whether the refusal of a key tells an unknown id from a wrong secret."""
    owner, now = User.objects.get(is_default=True), timezone.now()
    known = create_key(user=owner, scopes=[Scope.MEMORY_READ], now=now, actor="bench")
    body = f"mnr_live_{known.prefix}_{'A' * 43}"
    keys = (generate_key("live").text, body + checksum(body))

    def refuse(text: str) -> None:
        with suppress(Unauthenticated):
            authenticate_key(text, address="192.0.2.1", now=now)

    taken = [[processor_seconds(lambda text=text: refuse(text)) for text in keys] for _pair in range(pairs)]
    unknown, wrong = (median(each) for each in zip(*taken, strict=True))
    return Figure(
        name="refusal of a key with an unknown id against a wrong secret",
        value=unknown / wrong,
        unit="x",
        bound="0.5 to 1.5",
        ok=0.5 <= unknown / wrong <= 1.5,
        reference=f"medians of {pairs}; a wrong secret: {wrong * 1000:.2f} ms",
    )


def seconds_of(act: Act, text: str) -> float:
    """Return the processor time of one call, at least the grain of so many characters."""
    return max(processor_seconds(lambda: act(text)), GRAIN * len(text))


def least_seconds(act: Callable[[], object], attempts: int) -> float:
    """Return the processor time of the fastest of some calls."""
    return min(processor_seconds(act) for _attempt in range(attempts))


def processor_seconds(act: Callable[[], object]) -> float:
    """Return the processor time of one call without the collector, whose share grows with what other calls left behind."""
    gc.disable()
    try:
        begun = time.process_time()
        act()
        return time.process_time() - begun
    finally:
        gc.enable()
