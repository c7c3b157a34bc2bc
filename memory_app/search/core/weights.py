"""What each feature of the default fusion is worth. Written by `python -m tests.bench.train_ranker`; do not edit.

A weight is in log-odds for one unit of its feature; `fusion` says what the units are.
"""

WEIGHTS: dict[str, float] = {
    "coverage": 4.62,
    "closeness": 2.91,
    "meaning": 0.55,
    "before": 0.60,
    "after": 0.61,
    "answers": 5.21,
    "when": 2.05,
    "question": -0.96,
    "short": -0.42,
    "long": -1.67,
    "speaker": 0.62,
}
