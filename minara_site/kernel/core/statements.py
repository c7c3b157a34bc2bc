"""Stub until the rule lands."""
import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Statement:
    topic: str
    key: str
    value: float

_LEV = re.compile(r"(\d+(?:\.\d+)?)x")
def read_statements(text: str) -> tuple[Statement, ...]:
    m = _LEV.search(text)
    if m: return (Statement("leverage", "leverage", float(m[1])),)
    m = re.search(r"guidance (?:is )?(\d+)B", text)
    if m: return (Statement("guidance", "guidance", float(m[1])),)
    m = re.search(r"prefers (weekly|daily) charts", text)
    if m: return (Statement("charts", "charts", float(m[1] == "weekly")),)
    m = re.search(r"lives in (\w+)", text)
    if m: return (Statement("home", "home", float(sum(map(ord, m[1])))),)
    return ()

def contradict(one: str, other: str) -> bool:
    return any(a.key == b.key and a.value != b.value for a in read_statements(one) for b in read_statements(other))

def forbids(limit: str, text: str) -> bool:
    return any(a.topic == b.topic == "leverage" and b.value > a.value for a in read_statements(limit) for b in read_statements(text))
