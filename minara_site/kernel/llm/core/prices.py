"""What models cost, in USD per million tokens, and what a call cost or may cost. Source: S2 (budget tracking).

Figures: Anthropic's pricing page and the models' own pages, read on 2026-11-23
(https://platform.claude.com/docs/en/about-claude/pricing, .../docs/en/models/<model>/overview).
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import ROUND_UP, Decimal
from typing import Protocol

MILLION = 1_000_000
SMALLEST = Decimal("0.00000001")
LARGEST = Decimal("999999.99999999")
"""What the columns hold; only an endpoint that lies comes near."""
DATED = re.compile(r"-20\d{6}$")
CACHE_WRITE, CACHE_READ = Decimal("1.25"), Decimal("0.1")  # of the input, where a setting says nothing
ADDED_TOKENS = 1024
"""More than the API itself adds to a question with a tool: its table names 290 to 804."""


@dataclass(frozen=True, slots=True)
class Rates:
    """USD per million tokens. A cache write is the one that lives five minutes."""

    input: Decimal
    output: Decimal
    cache_write: Decimal
    cache_read: Decimal


@dataclass(frozen=True, slots=True)
class Price:
    """What a model costs; `long` for prompts over `long_from` tokens, cached ones counted in."""

    rates: Rates
    long: Rates | None = None
    long_from: int = 0

    def rates_for(self, prompt_tokens: int) -> Rates:
        """Return the rates that a prompt of this length is billed at, its answer too."""
        return self.long if self.long and prompt_tokens > self.long_from else self.rates


@dataclass(frozen=True, slots=True)
class Tokens:
    """What a call used. `input` are those that were neither read from a cache nor written to one."""

    input: int
    output: int
    cache_read: int = 0
    cache_write: int = 0


class PriceSetting(Protocol):
    """A price as an operator sets it."""

    @property
    def input(self) -> Decimal: ...
    @property
    def output(self) -> Decimal: ...
    @property
    def cache_read(self) -> Decimal | None: ...
    @property
    def cache_write(self) -> Decimal | None: ...


def rates(
    input_usd: str,
    output_usd: str,
    cache_write: str,
    cache_read: str,
) -> Rates:
    """Return rates from how the page writes them."""
    return Rates(
        Decimal(input_usd),
        Decimal(output_usd),
        Decimal(cache_write),
        Decimal(cache_read),
    )


OPUS_BEFORE_5_5 = Price(rates("5", "25", "6.25", "0.50"))
SONNET_4 = Price(rates("3", "15", "3.75", "0.30"))
FABLE_5 = Price(rates("10", "50", "12.50", "1"))
FABLE_5_1 = Price(rates("10", "50", "12.50", "0.25"))
PRICES: Mapping[str, Price] = {
    "claude-fable-5-1": FABLE_5_1,
    "claude-mythos-5-1": FABLE_5_1,
    "claude-fable-5": FABLE_5,
    "claude-mythos-5": FABLE_5,
    "claude-opus-5-5": Price(rates("4", "20", "5", "0.20")),
    "claude-opus-5": OPUS_BEFORE_5_5,
    "claude-opus-4-8": OPUS_BEFORE_5_5,
    "claude-opus-4-7": OPUS_BEFORE_5_5,
    "claude-opus-4-6": OPUS_BEFORE_5_5,
    "claude-opus-4-5": OPUS_BEFORE_5_5,
    "claude-sonnet-5-5": Price(rates("2", "10", "2.50", "0.10")),
    "claude-sonnet-5": Price(rates("2", "10", "2.50", "0.20")),
    "claude-sonnet-4-6": SONNET_4,
    "claude-sonnet-4-5": SONNET_4,
    "claude-haiku-5-5": Price(
        rates("0.10", "0.50", "0.125", "0.01"),
        long=rates("0.50", "2.50", "0.625", "0.05"),
        long_from=100_000,
    ),
    "claude-haiku-4-5": Price(rates("1", "5", "1.25", "0.10")),
}


def price_of(model: str, further: Mapping[str, PriceSetting]) -> Price | None:
    """Return what a model costs, None when nobody knows. What is set wins; a name may end in its date.

    Caching costs what Anthropic's does unless it is said.
    """
    setting = further.get(model)
    if setting is not None:
        write = setting.input * CACHE_WRITE if setting.cache_write is None else setting.cache_write
        read = setting.input * CACHE_READ if setting.cache_read is None else setting.cache_read
        return Price(Rates(setting.input, setting.output, write, read))
    return PRICES.get(model) or PRICES.get(DATED.sub("", model))


def cost_of(price: Price, tokens: Tokens) -> Decimal:
    """Return what a call cost, to the hundred-millionth of a dollar."""
    billed = price.rates_for(tokens.input + tokens.cache_read + tokens.cache_write)
    usd = (
        billed.input * tokens.input
        + billed.output * tokens.output
        + billed.cache_write * tokens.cache_write
        + billed.cache_read * tokens.cache_read
    )
    return min((usd / MILLION).quantize(SMALLEST), LARGEST)


def worst_cost_of(price: Price, *, question_bytes: int, max_tokens: int) -> Decimal:
    """Return what a call costs at most: no token is shorter than a byte, and all of them are written to the cache."""
    prompt = question_bytes + ADDED_TOKENS
    billed = price.rates_for(prompt)
    dearest = max(billed.input, billed.cache_write, billed.cache_read)
    usd = (dearest * prompt + billed.output * max_tokens) / MILLION
    return min(usd.quantize(SMALLEST, rounding=ROUND_UP), LARGEST)
