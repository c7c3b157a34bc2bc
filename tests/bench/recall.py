"""What the search finds: LoCoMo's turns and TAT-QA's paragraphs as memories, their questions as queries.

Each turn is a memory of its conversation's owner, `speaker: text`; beside it, for comparison, with the date and the
picture's caption that the data give. A question's recall is the share of its evidence among the first hits. Every set
is searched without a provider, and then with the local one: by meaning alone, by S1's reciprocal ranks, and by the
default, which must never be worse than the better arm. Its weights were learned on these very sets. `train_ranker` says
what weights are worth on the part that they were learned without; on sets of which nothing was learned, the shipped ones
find less: .757 of seven other conversations of LoCoMo (.641 by words), .813 of FinanceBench.
"""

import json
import re
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.conf import settings
from django.utils import timezone

from memory_app.embeddings.services import backfill_embeddings
from memory_app.index.core.request import Fusion
from memory_app.memories.models import Memory
from memory_app.search.selectors import search_memories
from minara_site.access.models import User
from tests.bench.figures import Figure
from tests.bench.texts import BEGIN
from tests.kit.shared import SHARED

LEAST = {"LoCoMo": 0.64, "LoCoMo, with date and caption": 0.64, "TAT-QA": 0.56}
MIN_FUSED = {"LoCoMo": 0.75, "LoCoMo, with date and caption": 0.75, "TAT-QA": 0.62}
QUESTION_TYPES = {1: "several turns", 2: "time", 3: "open", 4: "one turn", 5: "adversarial"}


@dataclass(frozen=True)
class Question:
    """A question, the ids of what answers it, and its kind."""

    owner: User
    text: str
    evidence: frozenset[int]
    kind: str


@dataclass(frozen=True)
class Score:
    """How well one question was answered."""

    recall_5: float
    recall_10: float
    reciprocal_rank: float


def run(scratch: Path, *, small: bool = False) -> list[Figure]:
    """Measure both sets with the product's own default search."""
    if not (SHARED / "data").exists():
        sys.exit(f"{SHARED / 'data'} is missing: bench recall reads LoCoMo and TAT-QA there")
    every = 10 if small else 1
    sets = {
        "LoCoMo": list(locomo("plain", plain_turn))[::every],
        "LoCoMo, with date and caption": list(locomo("dated", dated_turn))[::every],
        "TAT-QA": list(tatqa())[::every],
    }
    by_keywords = [figure for name, questions in sets.items() for figure in report(name, questions)]
    return by_keywords if small else [*by_keywords, *by_meaning(sets)]


def by_meaning(sets: dict[str, list[Question]]) -> list[Figure]:
    """Embed every text with the local provider and measure each set again."""
    settings.MINARA = settings.MINARA.model_copy(update={"embedding_provider": "local"})
    while backfill_embeddings(now=timezone.now())["embedded"]:  # a run ends at half of a job's time
        pass
    return [figure for name, questions in sets.items() for figure in report_fusions(name, questions)]


def report_fusions(name: str, questions: list[Question]) -> Iterator[Figure]:
    """Yield recall@10 of each arm and fusion; the default must reach its bar and the better arm."""
    found = {each: mean([answer(question, each) for question in questions], "recall_10") for each in Fusion}
    least = max(found[Fusion.TEXT], found[Fusion.MEANING], MIN_FUSED[name])
    for each, value in found.items():
        bound = f">= {least:.3f}" if each is Fusion.DEFAULT else ""
        yield Figure(f"{name}, local provider, {each}: recall@10", value, "", bound, value >= least if bound else None)


def plain_turn(turn: dict[str, Any], date: str) -> str:
    """Return a turn as it was said."""
    return f"{turn['speaker']}: {turn['text']}"


def dated_turn(turn: dict[str, Any], date: str) -> str:
    """Return a turn with its date and the caption of its picture."""
    caption = f" [{turn['blip_caption']}]" if turn.get("blip_caption") else ""
    return f"[{date}] {plain_turn(turn, date)}{caption}"


def locomo(name: str, write: Callable[[dict[str, Any], str], str]) -> Iterator[Question]:
    """Store the conversations, an owner each, and yield their questions."""
    for sample in load("locomo_dev.json"):
        talk = sample["conversation"]
        turns = {
            turn["dia_id"]: write(turn, talk[f"{session}_date_time"])
            for session, said in talk.items()
            if isinstance(said, list)
            for turn in said
        }
        owner, ids = store(f"{name}-{sample['sample_id']}", turns)
        for asked in sample["qa"]:
            named = [place for text in asked.get("evidence", ()) for place in re.findall(r"D\d+:\d+", text)]
            evidence = frozenset(ids.get(place, 0) for place in named)
            if evidence:
                yield Question(owner, asked["question"], evidence, QUESTION_TYPES[asked["category"]])


def tatqa() -> Iterator[Question]:
    """Store the paragraphs of all reports for one owner and yield the questions."""
    data = load("tatqa_dev.json")
    owner, ids = store("tatqa", {each["id"]: each["text"] for each in data["paragraphs"]})
    for asked in data["questions"]:
        evidence = frozenset(ids[each] for each in asked["relevant"])
        yield Question(owner, asked["question"], evidence, asked["answer_from"])


def load(name: str) -> Any:
    """Read a file of the data folder."""
    return json.loads((SHARED / "data" / name).read_text())


def store(name: str, texts: dict[str, str]) -> tuple[User, dict[str, int]]:
    """Write the texts as memories of a new owner; return the owner and the memory of each text."""
    owner = User.objects.create(username=name, password="!")
    rows = [
        Memory(
            owner=owner,
            category="observation",
            content=text,
            source="chat_extracted",
            actor="bench",
            created_at=BEGIN,
            updated_at=BEGIN,
        )
        for text in texts.values()
    ]
    made = Memory.objects.bulk_create(rows)
    return owner, {key: row.pk for key, row in zip(texts, made, strict=True)}


def report(name: str, questions: list[Question]) -> Iterator[Figure]:
    """Yield the figures of a set: overall with its bar, then per kind of question."""
    kinds: dict[str, list[Score]] = defaultdict(list)
    for question in questions:
        kinds[""].append(answer(question))
        kinds[question.kind].append(kinds[""][-1])
    for kind, scores in sorted(kinds.items()):
        value, least = mean(scores, "recall_10"), LEAST.get(name) if not kind else None
        rest = f"recall@5 {mean(scores, 'recall_5'):.3f}, MRR {mean(scores, 'reciprocal_rank'):.3f}, {len(scores)} questions"
        bound = f">= {least}" if least else ""
        ok = value >= least if least else None
        yield Figure(f"{name}{kind and ', '}{kind}: recall@10", value, "", bound, ok, rest)


def answer(question: Question, fusion: Fusion = Fusion.DEFAULT) -> Score:
    """Search as an agent would and look where the evidence stands."""
    hits = search_memories(owner=question.owner, query=question.text, limit=10, fusion=fusion).hits
    found = [hit.id for hit in hits]
    places = [place for place, memory_id in enumerate(found, start=1) if memory_id in question.evidence]
    size = len(question.evidence)
    return Score(
        recall_5=sum(place <= 5 for place in places) / size,
        recall_10=len(places) / size,
        reciprocal_rank=1 / places[0] if places else 0.0,
    )


def mean(scores: list[Score], name: str) -> float:
    """Return the mean of one part of the scores."""
    return sum(getattr(score, name) for score in scores) / len(scores)
