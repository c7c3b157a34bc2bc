"""Which roles exist: the built-in ones, those of own modules, and the declarations that stop the start."""

import sys
from dataclasses import replace

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command

from memory_app.roles.builtin.momentum import MOMENTUM
from memory_app.roles.core.declarations import Custom, DomainSkill, RefetchSource
from memory_app.roles.probes.custom import custom_probes, register_probe
from memory_app.roles.registry import RoleDeclarationError, RoleRegistry, SkillRegistry, load_skills, registry
from tests.kit.tables import table

PLACEHOLDERS = ("{decision}", "{window}", "{pnl}", "{evidence}", "{type}")
OWN_SKILL = """
from memory_app.roles.core.declarations import DomainSkill, Manual, MemoryRole, ReflectionPolicy

POLICY = ReflectionPolicy(outcome_probe=Manual(), min_age_hours=1, max_age_hours=2, triggers=())
SKILLS = [DomainSkill(id="{skill}", label="Own", memory_roles=(
    MemoryRole(id="{role}", label="Own", failure_modes=("none",), reflection_prompt="{{decision}}",
               reflection_policy=POLICY),
))]
"""


@pytest.fixture
def written(monkeypatch):
    """Write a module of skills and name it in the setting, alone."""
    before = set(sys.modules)

    def write(folder, name, text, *, times=1):
        sys.modules.pop(name, None)
        (folder / f"{name}.py").write_text(text)
        monkeypatch.syspath_prepend(folder)
        named = settings.MINARA.model_copy(update={"minara_skill_modules": (name,) * times})
        monkeypatch.setattr(settings, "MINARA", named)

    yield write
    for name in set(sys.modules) - before:
        del sys.modules[name]


def with_probes(*probes, outcome=None):
    policy = replace(MOMENTUM.reflection_policy, post_hoc_probes=probes)
    return replace(MOMENTUM, reflection_policy=replace(policy, outcome_probe=outcome) if outcome else policy)


def registry_of(*roles):
    return RoleRegistry.from_skill_registry([DomainSkill(id="desk", label="Desk", memory_roles=roles)])


def test_brings_the_roles_of_the_sources():
    ids = [each.id for each in registry().all()]
    assert ids == sorted(ids)
    assert {"analysis.valuation.target_price", "analysis.valuation.peer_comp", "market.spot.momentum"} <= set(ids)
    assert registry().find("market.spot.momentum").skill.id == "market.spot.momentum"
    assert registry().find("analysis.valuation") is None
    assert [each.id for each in registry().all() if each.skill.id == "analysis.valuation"] == [
        "analysis.valuation.peer_comp",
        "analysis.valuation.target_price",
    ]


@table("declared", registry().all(), ids=lambda each: each.id)
def test_every_prompt_of_ours_takes_what_the_reflector_puts_in(declared):
    missing = [word for word in PLACEHOLDERS if word not in declared.role.reflection_prompt]
    assert missing == []
    assert "{input." not in declared.role.reflection_prompt


def test_takes_the_skills_of_own_modules_each_once_though_named_twice(written, tmp_path):
    written(tmp_path, "own_desk", OWN_SKILL.format(skill="desk", role="desk.call"), times=2)
    found = RoleRegistry.from_skill_registry(load_skills())
    assert found.find("desk.call").skill.id == "desk"
    assert found.find("market.spot.momentum")
    assert load_skills().module_of("desk") == "own_desk"


def test_takes_the_skills_of_installed_packages(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "pack_skills.py").write_text(OWN_SKILL.format(skill="pack", role="pack.call"))
    (tmp_path / "pack-1.0.dist-info").mkdir()
    (tmp_path / "pack-1.0.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: pack\nVersion: 1.0\n")
    (tmp_path / "pack-1.0.dist-info" / "entry_points.txt").write_text("[minara.skills]\npack = pack_skills\n")
    try:
        assert load_skills().module_of("pack") == "pack_skills"
    finally:
        sys.modules.pop("pack_skills", None)


@table(
    ("skill", "role", "owners"),
    [
        ("desk", "market.spot.momentum", ("market.spot.momentum", "desk")),
        ("analysis.valuation", "desk.call", ("memory_app.roles.builtin.valuation", "own_desk")),
    ],
)
def test_a_duplicate_id_names_both_owners_in_one_line(written, tmp_path, skill, role, owners):
    written(tmp_path, "own_desk", OWN_SKILL.format(skill=skill, role=role))
    with pytest.raises(RoleDeclarationError) as refusal:
        RoleRegistry.from_skill_registry(load_skills())
    text = str(refusal.value)
    assert all(owner in text for owner in owners)
    assert "\n" not in text


@table(
    ("text", "word"),
    [
        ("import nothing_of_this_name", "nothing_of_this_name"),
        ("raise RuntimeError('line one\\nline two')", "RuntimeError: line one"),
        ("this is no python", "SyntaxError"),
        ("", "SKILLS"),
        ("SKILLS = ['desk']", "SKILLS"),
        (OWN_SKILL.format(skill="desk", role="Desk Call"), "no role id"),
    ],
)
def test_a_module_that_cannot_be_used_stops_the_start(written, tmp_path, text, word):
    written(tmp_path, "broken_desk", text)
    with pytest.raises(RoleDeclarationError) as refusal:
        load_skills()
    assert "broken_desk" in str(refusal.value)
    assert word in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_a_probe_that_nobody_registered_stops_the_start():
    with pytest.raises(RoleDeclarationError, match=r"desk.*whale_followthrough.*relative_performance"):
        registry_of(with_probes(outcome=Custom("whale_followthrough")))


@table("tool", ["memory_write", "record_decision", "place_order", ""])
def test_a_tool_that_does_more_than_read_stops_the_start(tool):
    with pytest.raises(RoleDeclarationError, match=r"desk.*get_price"):
        registry_of(with_probes(RefetchSource(tool)))


@table("mapper", ["asset→colour", "asset", "→", "asset=symbol"])
def test_a_tool_that_is_given_what_it_does_not_take_stops_the_start(mapper):
    with pytest.raises(RoleDeclarationError, match="get_price"):
        registry_of(with_probes(RefetchSource("get_price", mapper)))


def test_a_skill_registry_knows_the_module_of_each_skill():
    skills = SkillRegistry.of([DomainSkill(id="desk", label="Desk")], module="own")
    assert skills.module_of("desk") == "own"
    with pytest.raises(RoleDeclarationError, match="own and other"):
        skills.register(DomainSkill(id="desk", label="Desk"), module="other")


def test_a_probe_id_belongs_to_one_function():
    known = custom_probes()["relative_performance"].ask
    assert register_probe("relative_performance", check=custom_probes()["relative_performance"].check)(known) is known
    with pytest.raises(ValueError, match=r"relative.*test_registry"):
        register_probe("relative_performance")(with_probes)


@pytest.mark.django_db
def test_recall_knows_only_declared_roles():
    with pytest.raises(CommandError, match=r"market\.spot\.momentum"):
        call_command("recall", "market.spot")


@pytest.mark.processes
def test_a_duplicate_id_stops_minara_with_one_line(site, tmp_path):
    (tmp_path / "own_desk.py").write_text(OWN_SKILL.format(skill="desk", role="market.spot.momentum"))
    path = f"{site.environment['PYTHONPATH']}:{tmp_path}"
    code, output = site.run("check", MINARA_SKILL_MODULES="own_desk", PYTHONPATH=path)
    assert code != 0
    owners = "the skills market.spot.momentum and desk"
    said = f"minara: the role market.spot.momentum is declared twice, by {owners}; rename one"
    assert output.strip().splitlines() == [said]
