"""What answers say, and how they are stored."""

from memory_app.memories.models import Memory
from profile_app.onboarding.core import QUESTIONS, TAGGED, WORDS, Answers, Completion, Question, statement_of
from profile_app.onboarding.selectors import MemoryAct, decide_act
from profile_app.portrait.core.tags import allowed_values
from tests.kit.tables import table

RISK, CAPITAL = Question.RISK, Question.CAPITAL


def test_every_value_of_a_dimension_has_its_words() -> None:
    assert {question: tuple(words) for question, words in WORDS.items()} == {
        question: allowed_values(question) for question in TAGGED
    }
    assert list(QUESTIONS) == ["financeKnowledge", "frequency", "risk", "markets", "capital"]


@table(
    "question, answer, said",
    [
        (Question.FINANCE_KNOWLEDGE, "level_3", "My finance knowledge: Advanced."),
        (Question.FREQUENCY, "weekly", "I trade weekly."),
        (Question.MARKETS, ["memes", "crypto_majors"], "I follow: crypto majors, memes."),
        (CAPITAL, "25k USD", "My investing capital, as I state it: 25k USD."),
        (CAPITAL, "About 3.", "My investing capital, as I state it: About 3."),
        (CAPITAL, "约两万。", "My investing capital, as I state it: 约两万。"),
        (CAPITAL, 25000, "My investing capital, as I state it: 25000."),
        (CAPITAL, 0.5, "My investing capital, as I state it: 0.5."),
    ],
)
def test_an_answer_is_a_plain_statement_in_the_first_person(question, answer, said) -> None:
    assert statement_of(question, answer) == said


def test_answers_are_stored_raw_by_their_names_and_come_back_whole() -> None:
    last = Completion(
        before={},
        given={"risk": "balanced"},
        was_completed=False,
        events=[3],
        memories={7: (2, 1)},
    )
    answers = Answers(given={"risk": "balanced", "capital": 25000}, draft={"frequency": None}, last=last)
    assert answers.dump().startswith('{"risk": "balanced", "capital": 25000, ')
    assert Answers.parse(answers.dump()) == answers
    assert Answers.parse("{}").dump() == "{}"


def test_a_run_goes_on_at_the_first_question_that_was_neither_answered_nor_skipped() -> None:
    assert Answers().next_question is Question.FINANCE_KNOWLEDGE
    answers = Answers(given={"financeKnowledge": "level_1"}, draft={"frequency": None, "markets": ["memes"]})
    assert answers.next_question is RISK
    assert answers.drafted == {"markets": ["memes"]}


OLD, NEW = statement_of(RISK, "balanced"), statement_of(RISK, "aggressive")
ANSWERED = Answers(given={"risk": "balanced"})


@table(
    "stored, content, act",
    [
        (Answers(), None, MemoryAct.WRITE),
        (Answers(draft={"risk": "balanced"}), None, MemoryAct.WRITE),
        (Answers(), NEW, MemoryAct.NOTHING),
        (Answers(), OLD, MemoryAct.KEEP_REWRITTEN),
        (ANSWERED, None, MemoryAct.KEEP_DELETED),
        (ANSWERED, OLD, MemoryAct.EDIT),
        (ANSWERED, NEW, MemoryAct.NOTHING),
        (ANSWERED, "I sleep badly when I lose.", MemoryAct.KEEP_REWRITTEN),
    ],
)
def test_what_a_user_rewrote_or_deleted_stays_as_they_left_it(stored, content, act) -> None:
    memory = None if content is None else Memory(content=content)
    assert decide_act(RISK, NEW, stored, memory) is act
