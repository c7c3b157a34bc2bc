"""A call is remembered for a day by its caller and key."""

from datetime import timedelta

import pytest

from minara_site.kernel.errors import Conflict, Invalid
from minara_site.kernel.idempotency.models import IdempotentCall
from minara_site.kernel.idempotency.services import LARGEST_ANSWER, claim_call, keep_answer
from minara_site.kernel.idempotency.tasks import delete_expired

pytestmark = [pytest.mark.django_db, pytest.mark.database]

DAY = timedelta(hours=24)
MOMENT = timedelta(microseconds=1)


def claim(now, **changed):
    return claim_call(**{"caller": "key:a", "key": "k-1", "request_sha256": "f" * 64, "now": now, **changed})


def answered(now, body=b'{"ok": true}', **changed):
    call, is_new = claim(now, **changed)
    assert is_new
    keep_answer(call, status=201, headers={"ETag": '"1"'}, body=body)


def test_a_second_call_finds_the_answer_of_the_first(now):
    answered(now)
    call, is_new = claim(now + DAY - MOMENT)
    assert not is_new
    assert (call.status, call.headers, bytes(call.body)) == (201, {"ETag": '"1"'}, b'{"ok": true}')


def test_after_a_day_it_is_new(now):
    answered(now)
    answered(now + DAY, request_sha256="0" * 64)
    assert IdempotentCall.objects.count() == 1


def test_each_caller_has_keys_of_their_own(now):
    answered(now)
    answered(now, caller="key:b")
    answered(now, key="k-2")


def test_a_key_stands_for_one_request(now):
    answered(now)
    with pytest.raises(Invalid) as refusal:
        claim(now, request_sha256="0" * 64)
    assert refusal.value.problem_code == "idempotency_mismatch"


def test_an_answer_too_large_to_keep_leaves_that_the_call_was_made(now):
    answered(now, body=b"x" * LARGEST_ANSWER)
    answered(now, key="k-2", body=b"x" * (LARGEST_ANSWER + 1))
    assert not claim(now)[1]
    with pytest.raises(Conflict) as refusal:
        claim(now, key="k-2")
    assert refusal.value.problem_code == "idempotency_answer_not_kept"


def test_the_job_deletes_what_is_a_day_old(now):
    answered(now, key="old")
    answered(now + MOMENT, key="young")
    assert delete_expired(now=now + DAY) == {"deleted": 1}
    assert delete_expired(now=now + DAY) == {"deleted": 0}
    assert IdempotentCall.objects.get().key == "young"
