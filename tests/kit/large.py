"""A large instance as years of use leave it: people, memories with their history, holds and edges, methods, cases, prices."""

import random
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone

from learning_app.cases.models import CaseHint, TradingCase
from learning_app.methodologies.models import Methodology
from memory_app.embeddings.models import MemoryVector
from memory_app.memories.models import Memory
from memory_app.memories.services import Changes, Draft, delete_memories, edit_memory, write_memories
from memory_app.user_profile.services import set_entry
from minara_site.access.models import User
from minara_site.access.policy import Role
from minara_site.access.principal import Principal
from minara_site.kernel.audit_log.tasks import seal
from minara_site.kernel.core.vocabulary import Category, Provenance, Source
from minara_site.kernel.market.importing import import_file
from minara_site.kernel.market.services import Series
from profile_app.portrait.core.tags import TagSource
from profile_app.portrait.services.tags import set_tag
from tests.kit.shared import shared_path
from tests.learning_app.rows import build_case, build_methodology

SENTENCES = (
    "Bought {n} {a} at 61,200 after the {b} unlock, stop below 58k",
    "Closed my long on {a} for +{n}.8%, rotated half into {b}\nand the rest\tinto USDC \\ cash",
    "卖出 {a} 换成 {b}，止损放在 58000 下方，仓位不超过 {n}% 🙂",
    "User never holds more than {n}% in meme coins such as {a} or {b}",
    "Watching {a}/USDT funding; if it turns negative, add to {b} in thirds, look {n}",
)
ASSETS = ("BTC", "ETH", "SOL", "NVDA", "LINK", "DOGE", "AAPL", "比特币")
CANDLES = {"xrp_usdt_1h.csv": ("XRP", 3600), "eth_btc_5m.csv": ("ETH/BTC", 300)}
ODD = {  # as both databases keep JSON: no -0.0, no float above all fractions
    "z": 1e-7,
    "note": 'a "b" \\ \\u0000 \t',
    "é": [1.50, 2**60, None, True],
    "10": 0.5,
    "9": {},
}
HELD_EACH, EDITED_EACH, DELETED_EACH = 50, 40, 30
SLICE = 500


def make_large(people: int, memories: int, cases: int, methods: int) -> int:
    """Write that many of each, evenly shared, and all candles of the files; return how many memories there are."""
    dice, now = random.Random(7), timezone.now()
    users = User.objects.bulk_create(User(username=f"trader{number}", password="!") for number in range(people))
    users = list(User.objects.filter(username__startswith="trader").order_by("pk"))
    for number, user in enumerate(users):
        remember(user, memories // people + (number < memories % people), dice)
        set_entry(owner=user, key="time_zone", value=f"Asia/{number}", actor=f"user:{user.pk}", now=now)
        set_tag(
            owner=user,
            name="style",
            value="technical",
            source=TagSource.INFERRED,
            actor="job:test",
            now=now,
        )
    create(
        Methodology,
        (build_methodology(number, correct=number % 9, used=9) for number in range(500, 500 + methods)),
    )
    known = list(Methodology.objects.order_by("pk"))
    create(TradingCase, (build_case(users[number % people], hours=30 + number) for number in range(cases)))
    made = TradingCase.objects.filter(hint_rows=None).order_by("pk")
    create(
        CaseHint,
        (
            CaseHint(
                case=case,
                methodology=dice.choice(known),
                position=0,
                why="overlaps",
                own_why="overlaps",
            )
            for case in made
            if known
        ),
    )
    for name, (symbol, seconds) in CANDLES.items():
        series = Series(symbol, seconds, name, "command:market")
        import_file(path=shared_path(f"data/{name}"), series=series, now=now, may_have_gaps=True)
    seal(now=now)
    return Memory.objects.count()


def remember(user: Any, count: int, dice: random.Random) -> None:
    """Write memories of somebody, edit and delete some; the guard holds those with a hidden character."""
    now, me = timezone.now(), Principal(user, Role.USER)
    write_memories(
        owner_id=user.pk,
        drafts=drafts(me, count, dice),
        now=now,
        actor=me.actor,
        tool_call="memory_write",
    )
    typed = list(Memory.objects.for_owner(user).filter(category=Category.PERSONALIZATION).live().order_by("pk"))
    for row in typed[::EDITED_EACH]:
        edit_memory(principal=me, memory_id=row.pk, changes=Changes(f"{row.content}, revised"), now=now)
    gone = [row.pk for row in typed[1::DELETED_EACH]][:SLICE]
    if gone:
        delete_memories(principal=me, owner=user, ids=gone, now=now + timedelta(seconds=1))
    facts = {"kind": "memory", "owner": user, "model": "test:test", "dimensions": 16, "embedded_at": now}
    some = (
        {
            "object_id": row.pk,
            "text_sha256": row.content_hash,
            "vector": dice.randbytes(64),
        }
        for row in typed[::9]
    )
    create(MemoryVector, (MemoryVector(**facts, **each) for each in some))


def drafts(me: Principal, count: int, dice: random.Random) -> Iterator[Draft]:
    """Yield memories of ordinary length in several categories, no two alike."""
    categories, typed = [Category.PERSONALIZATION] * 9 + [*Category], Provenance(Source.USER_MANUAL, me.actor)
    for number in range(count):
        first, second = dice.sample(ASSETS, 2)
        text = " ".join(dice.choices(SENTENCES, k=dice.choice((1, 1, 2)))).format(n=number, a=first, b=second)
        hidden = "\u200b" if number % HELD_EACH == HELD_EACH - 1 else ""
        metadata = {**ODD, "price": dice.random() * 10 ** dice.randint(-9, 14)}
        yield Draft(
            dice.choice(categories),
            f"{text} #{number}{hidden}",
            typed,
            tickers=("BTC", "EUR/USD"),
            metadata=metadata,
        )


def create(model: Any, rows: Iterator[Any]) -> None:
    """Insert rows in slices."""
    with transaction.atomic():
        model.objects.bulk_create(rows, batch_size=SLICE)
