"""R-23: each file stands and falls with its own line."""

import random
import tracemalloc

from hypothesis import given, strategies as st

from memory_app.bundle.core.signature import is_signed, parse_signatures, render_line, sign_file

KEY, OWNER_ID = bytes(range(32)), 7
FILES = {f"memories/lesson/{number}.md": b"---\nid: %d\n---\nbody %d\n" % (number, number) for number in range(20)}
SIGNATURES = "".join(
    render_line(path, sign_file(KEY, OWNER_ID, path, content)) for path, content in FILES.items()
).encode()


def unsigned(
    files: dict[str, bytes],
    signatures: bytes,
    key: bytes = KEY,
    owner_id: int = OWNER_ID,
) -> set[str]:
    """Return the files that are not signed."""
    found = parse_signatures(signatures, FILES)
    return {path for path, content in files.items() if not is_signed(key, owner_id, path, content, found.get(path, ()))}


def flip(content: bytes, bit: int) -> bytes:
    changed = bytearray(content)
    changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed)


def test_of_a_thousand_flipped_bits_each_costs_exactly_the_touched_file_its_signature() -> None:
    chance = random.Random(23)
    places = [*FILES, *["signature.txt"] * 20]
    for _ in range(1000):
        place = chance.choice(places)
        if place == "signature.txt":
            bit = chance.randrange(len(SIGNATURES) * 8)
            lines = SIGNATURES[: bit // 8 + 1].count(b"\n") - (SIGNATURES[bit // 8 : bit // 8 + 1] == b"\n")
            lost = unsigned(FILES, flip(SIGNATURES, bit))
            assert lost <= {list(FILES)[lines]}  # a line end may break without harm to its line
            assert lost or SIGNATURES[bit // 8 : bit // 8 + 1] == b"\n"
        else:
            bit = chance.randrange(len(FILES[place]) * 8)
            assert unsigned(FILES | {place: flip(FILES[place], bit)}, SIGNATURES) == {place}


def test_every_bit_of_one_line_counts_for_that_line_alone() -> None:
    first = SIGNATURES.index(b"\n")
    for bit in range(first * 8):
        assert unsigned(FILES, flip(SIGNATURES, bit)) == {"memories/lesson/0.md"}


def test_swapped_bodies_lose_both_signatures() -> None:
    one, two = list(FILES)[:2]
    assert unsigned(FILES | {one: FILES[two], two: FILES[one]}, SIGNATURES) == {one, two}


def test_a_renamed_file_loses_its_signature_also_when_its_line_is_renamed_with_it() -> None:
    one = next(iter(FILES))
    moved = {path: content for path, content in FILES.items() if path != one} | {"memories/fact/0.md": FILES[one]}
    assert unsigned(moved, SIGNATURES) == {"memories/fact/0.md"}
    assert unsigned(moved, SIGNATURES.replace(one.encode(), b"memories/fact/0.md")) == {"memories/fact/0.md"}


def test_the_path_cannot_lend_a_letter_to_the_content() -> None:
    assert sign_file(KEY, OWNER_ID, "a.md", b"bc") != sign_file(KEY, OWNER_ID, "a.mdb", b"c")


def test_a_line_that_is_taken_out_costs_its_file_alone() -> None:
    one = next(iter(FILES))
    left = b"".join(line for line in SIGNATURES.splitlines(keepends=True) if one.encode() not in line)
    assert unsigned(FILES, left) == {one}


def test_a_second_line_for_a_file_neither_helps_nor_harms() -> None:
    one, two = list(FILES)[:2]
    wrong = render_line(one, sign_file(KEY, OWNER_ID, two, FILES[two])).encode()
    assert unsigned(FILES, wrong + SIGNATURES + wrong) == set()
    assert unsigned(FILES | {one: b"forged"}, SIGNATURES + SIGNATURES + wrong) == {one}


def test_nothing_is_signed_without_lines_or_by_another_key() -> None:
    assert unsigned(FILES, b"") == set(FILES)
    assert unsigned(FILES, SIGNATURES, key=bytes(32)) == set(FILES)


def test_what_was_signed_for_one_owner_is_not_signed_for_another() -> None:
    assert unsigned(FILES, SIGNATURES, owner_id=OWNER_ID + 1) == set(FILES)


def test_changed_line_ends_cost_a_file_its_signature_and_the_list_nothing() -> None:
    one = next(iter(FILES))
    assert unsigned(FILES | {one: FILES[one].replace(b"\n", b"\r\n")}, SIGNATURES) == {one}
    assert unsigned(FILES, SIGNATURES.replace(b"\n", b"\r\n")) == set()


def test_lines_of_files_that_are_not_there_take_no_room() -> None:
    assert parse_signatures(b"a" * 4_000_000, FILES) == {}
    lines = b"".join(b"%064x  %d.md\n" % (number, number) for number in range(20_000))
    tracemalloc.start()
    assert parse_signatures(lines, FILES) == {}
    assert tracemalloc.get_traced_memory()[1] < len(lines) / 10
    tracemalloc.stop()


@given(st.binary())
def test_any_bytes_may_stand_in_the_list(noise: bytes) -> None:
    assert unsigned(FILES, noise) == set(FILES)
    assert unsigned(FILES, noise + b"\n" + SIGNATURES) == set()
