"""Learn the weights of the default fusion from LoCoMo and TAT-QA, and say how good they are on what they never saw.

    python -m tests.bench.train_ranker [--write]

Stores both sets as memories in a scratch database, embeds them with the local provider, lets the product gather the
candidates of each question with their features, and fits a linear ranker: the likelihood that the evidence comes first
among the candidates, with an L2 penalty, by Newton's method from zero. No randomness: the same sets give the same
weights. Each LoCoMo conversation and each fifth of TAT-QA is left out once; `--write` replaces the shipped weights by
those of everything. What is left out is still of the same sets: `recall` names figures of others.
"""

import argparse
import os
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

PENALTY = 20.0
MAX_STEPS = 50
FOLDS = 5
AMONG = 10
WEIGHTS = Path(__file__).resolve().parents[2] / "memory_app/search/core/weights.py"
HEAD = '''"""What each feature of the default fusion is worth. Written by `python -m tests.bench.train_ranker`; do not edit.

A weight is in log-odds for one unit of its feature; `fusion` says what the units are.
"""

WEIGHTS: dict[str, float] = {
'''


@dataclass(frozen=True)
class Example:
    """One question: the features of its candidates, which of them are evidence, and how much evidence there is."""

    group: str
    features: Array
    is_evidence: Array
    evidence: int

    def recall(self, weights: Array) -> float:
        """Return the share of the evidence among the first."""
        order = np.argsort(-(self.features @ weights), kind="stable")[:AMONG]
        return float(self.is_evidence[order].sum()) / self.evidence


def fit(examples: Sequence[Example]) -> Array:
    """Return the weights under which the evidence most likely comes first."""
    useful = [each for each in examples if each.is_evidence.any()]
    scale = np.vstack([each.features for each in useful]).std(axis=0) + 1e-9
    padded = max(len(each.features) for each in useful)
    features = np.zeros((len(useful), padded, len(scale)))
    target, absent = np.zeros((len(useful), padded)), np.full((len(useful), padded), -np.inf)
    for at, each in enumerate(useful):
        size = len(each.features)
        features[at, :size] = each.features / scale
        target[at, :size] = each.is_evidence / each.is_evidence.sum()
        absent[at, :size] = 0
    weights = np.zeros(len(scale))
    for _step in range(MAX_STEPS):
        step = newton_step(weights, features, target, absent)
        weights, before = weights - step, weights
        while loss(weights, features, target, absent) > loss(before, features, target, absent):
            step /= 2
            weights = before - step
        if np.abs(step).max() < 1e-6:
            break
    return weights / scale


def loss(weights: Array, features: Array, target: Array, absent: Array) -> float:
    """Return the negative log-likelihood with its penalty."""
    scores = features @ weights
    highest = (scores + absent).max(axis=1)
    total = np.log(np.exp(scores + absent - highest[:, None]).sum(axis=1)) + highest
    return float((total - (target * scores).sum(axis=1)).sum() + PENALTY / 2 * weights @ weights)


def newton_step(weights: Array, features: Array, target: Array, absent: Array) -> Array:
    """Return what to take from the weights."""
    scores = features @ weights + absent
    chances = np.exp(scores - scores.max(axis=1, keepdims=True))
    chances /= chances.sum(axis=1, keepdims=True)
    gradient = PENALTY * weights - np.einsum("qcf,qc->f", features, target - chances)
    means = np.einsum("qcf,qc->qf", features, chances)
    weighed = (features * np.sqrt(chances)[..., None]).reshape(-1, len(weights))
    curvature = weighed.T @ weighed - means.T @ means + PENALTY * np.eye(len(weights))
    return np.asarray(np.linalg.solve(curvature, gradient))


def read_examples() -> list[Example]:
    """Store and embed both sets; return their questions. TAT-QA's come in as many groups as there are folds."""
    from django.utils import timezone

    from memory_app.embeddings.services import backfill_embeddings
    from tests.bench import recall

    sets = {
        "LoCoMo": list(recall.locomo("plain", recall.plain_turn)),
        "LoCoMo, dated": list(recall.locomo("dated", recall.dated_turn)),
        "TAT-QA": list(recall.tatqa()),
    }
    while backfill_embeddings(now=timezone.now())["embedded"]:  # a run ends at half of a job's time
        pass
    found = []
    for name, questions in sets.items():
        for at, question in enumerate(questions):
            fold = FOLDS * at // len(questions) if name == "TAT-QA" else question.owner.username.split("-", 1)[1]
            found.append(read_example(question, f"{name}: {fold}"))
    return found


def read_example(question: "recall.Question", group: str) -> Example:  # type: ignore[name-defined]  # noqa: F821
    """Return the features of a question's candidates as the product sees them."""
    from memory_app.index.core.request import Fusion, SearchRequest, Sort
    from memory_app.index.selectors import read_query
    from memory_app.search.core.fusion import Fuser
    from memory_app.search.core.rank import Ranker
    from memory_app.search.meaning import read_meaning
    from memory_app.search.selectors import backend, gather
    from minara_site.kernel.core.tickers import extract_finance_entities

    parsed = read_query(question.text)
    request = SearchRequest(question.owner.pk, parsed.node, parsed.literal, parsed.filters, Sort.RELEVANCE)
    ranker = Ranker(parsed.node, extract_finance_entities(question.text))
    meaning = read_meaning(request, parsed, Fusion.DEFAULT)
    pool = meaning and gather(backend("default"), request, ranker, meaning, limit=AMONG)
    if pool is None:
        return Example(group, np.zeros((0, len(names()))), np.zeros(0), len(question.evidence))
    fuser = Fuser(pool, ranker)
    ids = fuser.candidates()
    features = np.array([list(fuser.features(memory_id).values()) for memory_id in ids])
    is_evidence = np.array([float(memory_id in question.evidence) for memory_id in ids])
    return Example(group, features, is_evidence, len(question.evidence))


def names() -> list[str]:
    """Return the features in their order."""
    from memory_app.search.core.weights import WEIGHTS

    return list(WEIGHTS)


def conversation(group: str) -> str:
    """Return what is left out together: a conversation with both of its ways of writing, or a fifth of TAT-QA."""
    return group.replace(", dated", "")


def report(examples: Sequence[Example]) -> Array:
    """Print recall@10 in sample and left out; return the weights of everything."""
    whole = fit(examples)
    kinds = sorted({conversation(each.group) for each in examples})
    left_out = {kind: fit([each for each in examples if conversation(each.group) != kind]) for kind in kinds}
    for group in sorted({each.group for each in examples}):
        chosen = [each for each in examples if each.group == group]
        print_line(group, chosen, whole, left_out)
    for name in ("LoCoMo: ", "LoCoMo, dated: ", "TAT-QA: "):
        print_line(name, [each for each in examples if each.group.startswith(name)], whole, left_out)
    return whole


def print_line(name: str, examples: Sequence[Example], whole: Array, left_out: dict[str, Array]) -> None:
    """Print the figures of some examples."""
    unseen = mean(each.recall(left_out[conversation(each.group)]) for each in examples)
    seen = mean(each.recall(whole) for each in examples)
    most = mean(min(each.is_evidence.sum(), AMONG) / each.evidence for each in examples)
    print(
        f"{name:<26} left out {unseen:.3f}   in sample {seen:.3f}   best order {most:.3f}   {len(examples)} questions"
    )


def mean(values: Iterable[float]) -> float:
    """Return the mean."""
    found = list(values)
    return sum(found) / len(found)


def main() -> None:
    """Set up a scratch database and train."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="replace the shipped weights")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="minara-train-") as folder:
        os.environ |= {"MINARA_DATA_DIR": folder, "EMBEDDING_PROVIDER": "local", "MINARA_LOG_LEVEL": "ERROR"}
        os.environ.pop("DATABASE_URL", None)
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "minara_site.settings")
        import django
        from django.core.management import call_command

        django.setup()
        call_command("migrate", verbosity=0)
        call_command("migrate", database="queue", verbosity=0)
        weights = report(read_examples())
    lines = [f'    "{name}": {weight:.2f},\n' for name, weight in zip(names(), weights, strict=True)]
    print("".join(lines))
    if options.write:
        WEIGHTS.write_text("".join([HEAD, *lines, "}\n"]))


if __name__ == "__main__":
    main()
