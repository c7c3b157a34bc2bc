"""What the stages read: filled in one pass, fenced, bounded, the same for every role. Trust W-24."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, strategies as st
from pydantic import ValidationError

from memory_app.roles.core import Classification
from memory_app.roles.core.prompts import (
    MAX_EVIDENCE_CHARS,
    STAGE_ONE_SYSTEM,
    Case,
    ClassifyDecision,
    DrawLesson,
    count_sentences,
    fill_template,
    stage_one_content,
    stage_two_content,
)
from minara_site.kernel.core.fence import MEMORY_CONTEXT
from minara_site.kernel.market.core.evidence import EvidenceItem
from minara_site.kernel.market.outcome import Outcome
from tests.kit.tables import table

T0 = datetime(2026, 6, 10, 12, tzinfo=UTC)
OPEN, CLOSE = f"<{MEMORY_CONTEXT}>", f"</{MEMORY_CONTEXT}>"
TEMPLATE = "Decision {decision} window {window} pnl {pnl} evidence {evidence} type {type} asset {asset} {nobody}"
LOGIC = Classification.LOGIC_ERROR


def make_case(**fields):
    stated = {
        "role_label": "Spot call",
        "decision": "BTC rises.",
        "inputs": {"asset": "BTC"},
        "decided_at": T0,
        "outcome": Outcome.WRONG,
        "pnl_pct": -3.424,
        "window_hours": 24.0,
        "outcome_at": T0 + timedelta(hours=24),
        "noise_band_pct": 0.5,
        "evidence": (EvidenceItem("price", "BTC at the decision", "100", T0),),
    }
    return Case(**(stated | fields))


def test_every_placeholder_is_filled_and_an_unknown_one_stays():
    filled = fill_template(TEMPLATE, make_case(), LOGIC)
    assert filled == (
        f"Decision {OPEN}\nBTC rises.\n{CLOSE} window 24 hours pnl wrong, -3.42% evidence {OPEN}\n"
        f"[price: BTC at the decision, 2026-06-10 12:00 UTC] 100\n{CLOSE} type logic_error asset BTC {{nobody}}"
    )


def test_any_scalar_of_the_inputs_is_a_placeholder_and_nothing_else_is():
    inputs = {"n": 3, "yes": True, "half": 0.5, "list": ["x"], "type": "hijacked", "none": None}
    filled = fill_template("{n} {yes} {half} {list} {none} {type}", make_case(inputs=inputs), LOGIC)
    assert filled == "3 true 0.5 {list} {none} logic_error"


@table(
    "hostile",
    [
        "{pnl}",
        "{evidence.__class__}",
        "{decision}",
        "{0}",
        "{{7*7}}",
        "{% debug %}",
        "%(asset)s",
        "${asset}",
        "{asset!r:>99}",
        "\\{type\\}",
    ],
)
def test_what_a_value_holds_is_never_filled_again(hostile):
    case = make_case(
        decision=hostile,
        inputs={"asset": hostile},
        evidence=(EvidenceItem("news", hostile, hostile),),
    )
    filled = fill_template("{decision}|{asset}|{evidence}", case, LOGIC)
    decision, asset, evidence = filled.split("|")
    assert decision == f"{OPEN}\n{hostile}\n{CLOSE}"
    assert asset == f"{OPEN}{hostile}{CLOSE}"
    assert hostile in evidence
    assert "-3.42" not in filled


BITS = ["{", "}", "<", ">", "/", "\n", "\r", "\u2028", "\u200b", " ", "&lt;", MEMORY_CONTEXT, "pnl", OPEN, CLOSE]
TEXTS = st.lists(st.sampled_from(BITS), max_size=12).map("".join) | st.text(max_size=80)


@given(decision=TEXTS, asset=TEXTS, label=TEXTS, text=TEXTS, narrative=TEXTS)
def test_no_value_closes_its_fence_or_begins_a_line(decision, asset, label, text, narrative):
    case = make_case(
        decision=decision,
        inputs={"asset": asset, label[:60]: text},
        evidence=(EvidenceItem("news", label, text, T0),),
    )
    plain = make_case(
        decision="d",
        inputs={"asset": "a b", "b": "t"},
        evidence=(EvidenceItem("news", "l", "t", T0),),
    )
    for content, harmless in (
        (stage_one_content(case), stage_one_content(plain)),
        (two(case, narrative), two(plain, "n")),
    ):
        assert content.count(OPEN) == content.count(CLOSE)
        assert abs(content.count(OPEN) - harmless.count(OPEN)) <= 1, "an asset that is a plain word needs no fence"
        assert abs(len(content.splitlines()) - len(harmless.splitlines())) <= 1
        assert not re.search(r"[\x00-\x09\x0b-\x1f\u2028\u2029]", content)


def two(case, narrative):
    return stage_two_content(
        case,
        template="On {asset}: {decision} {evidence}",
        failure_modes=("chased the move",),
        classification=LOGIC,
        narrative=narrative,
    )


def test_stage_one_is_one_text_that_names_no_role():
    assert "{" not in STAGE_ONE_SYSTEM
    assert all(each.value in STAGE_ONE_SYSTEM for each in Classification)
    assert OPEN in STAGE_ONE_SYSTEM


def test_evidence_is_bounded_by_whole_items():
    many = tuple(EvidenceItem("news", f"n{number}", "x" * 400) for number in range(100))
    content = stage_one_content(
        make_case(
            evidence=many,
            decision="d" * 100_000,
            inputs={"asset": "a" * 9_000},
        )
    )
    assert len(content) < MAX_EVIDENCE_CHARS + 6_000
    assert content.endswith(CLOSE)


def test_a_result_that_nobody_measured_is_said_to_be_so():
    content = stage_one_content(make_case(pnl_pct=None, window_hours=None))
    assert "not measured" in content
    assert "Window: 24 hours" in content


@table(
    ("text", "count"),
    [
        ("Wait for the close.", 1),
        ("Wait for the close. Halve the size.", 2),
        ("Size at 1.5% of equity, e.g. half of it, vs. the usual.", 1),
        ("One. Two! Three?", 3),
        ("Without a stop", 1),
        ("先等收盘。再看资金费率。", 2),
        ("A. B. C.", 3),
        ('It said "no." Then wait.', 2),
    ],
)
def test_sentences_are_counted_as_readers_do(text, count):
    assert count_sentences(text) == count


def test_the_answers_are_exactly_what_is_asked_for():
    assert set(ClassifyDecision.model_json_schema()["properties"]) == {"class", "narrative"}
    assert set(DrawLesson.model_json_schema()["properties"]) == {"lesson"}
    for wrong in (
        {"lesson": "One. Two. Three."},
        {"lesson": "x" * 401},
        {"lesson": " "},
        {"lesson": "a", "b": 1},
        {},
    ):
        with pytest.raises(ValidationError):
            DrawLesson.model_validate(wrong)
    assert DrawLesson.model_validate({"lesson": "Wait.\nThen look."}).lesson == "Wait. Then look."


def test_an_item_is_stored_and_read_back():
    for item in (EvidenceItem("price", "BTC", "1", T0), EvidenceItem("note", "news", "nobody was asked")):
        assert EvidenceItem.from_json(item.as_json()) == item
