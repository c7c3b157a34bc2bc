"""Every name that an export gives is one that an import takes."""

from memory_app.bundle.core.paths import Refusal, find_refusal, find_twins, is_left_by_desktop
from minara_site.kernel.core.assets import CLASS_OF, FIAT
from minara_site.kernel.core.vocabulary import Category
from tests.kit.tables import table


@table("category", Category)
def test_takes_the_paths_of_memories(category: Category) -> None:
    assert find_refusal(f"memories/{category}/{2**63 - 1}.md") is None


def test_takes_the_paths_of_all_assets() -> None:
    pairs = [base + quote for base in FIAT for quote in FIAT]
    paths = [f"assets/{symbol}.md" for symbol in (*CLASS_OF, *pairs)]
    assert {find_refusal(path) for path in paths} == {None}
    assert find_twins(paths) is None


@table("name", ["", ".", "..", "a/..", "/a", "a//b", "a\\b", "a:b", "a\0b", " a", "a ", "a.", "~", "-a", "é"])
def test_takes_no_name_that_leads_anywhere(name: str) -> None:
    assert find_refusal(name) is Refusal.NAME


@table(("names", "twin"), [(["a.md", "A.md"], "A.md"), (["a", "a/b"], "a"), (["a/b", "a/c"], None)])
def test_finds_a_name_that_stands_there_twice(names: list[str], twin: str | None) -> None:
    assert find_twins(names) == twin


@table("name", [".DS_Store", "a/.git/config", "__MACOSX/a", "a/Thumbs.db"])
def test_knows_what_desktops_leave_behind(name: str) -> None:
    assert is_left_by_desktop(name)


@table("name", ["..", "../.DS_Store", ".git/../../x", "..x", "a/.", "/.x", "memories/x.md"])
def test_takes_nothing_that_leads_out_for_such(name: str) -> None:
    assert not is_left_by_desktop(name)
