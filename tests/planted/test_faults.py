"""The list of planted faults fits the product: each text stands where it is looked for, and every promise is there."""

from collections import Counter

from tests.planted.run import PROJECT, load_faults

PROMISES = {
    "policy check",
    "owner filter",
    "header",
    "CSRF",
    "write on reading",
    "fence",
    "lock",
    "constraint",
    "window",
    "budget",
    "masking",
    "translation",
}


def test_each_fault_can_be_planted_once_and_every_promise_is_among_them() -> None:
    faults = load_faults()
    wrong = [
        f"{fault.name}: {fault.file}"
        for fault in faults
        if (PROJECT / fault.file).read_text("utf-8").count(fault.old) != 1 or fault.new == fault.old or not fault.tests
    ]
    wrong += [name for name, count in Counter(fault.name for fault in faults).items() if count > 1]
    assert wrong == []
    assert len(faults) >= 30
    assert PROMISES - {fault.promise for fault in faults} == set()
