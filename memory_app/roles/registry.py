"""Which skills and roles exist: the built-in ones, and those of the installation's own modules. Source: S0 (registry).

Roles live in code only. Whatever cannot work is a `ConfigError` at the start, in one line that names both sides.
"""

import importlib
from collections.abc import Iterable, Iterator
from importlib.metadata import entry_points
from types import ModuleType
from typing import Self

from django.conf import settings

from memory_app.roles import builtin
from memory_app.roles.core.declarations import Custom, DeclaredRole, DomainSkill, MemoryRole, RefetchSource
from memory_app.roles.posthoc import find_source, list_sources
from memory_app.roles.posthoc.mapper import map_parameters
from memory_app.roles.probes.custom import custom_probes
from minara_site.config import ConfigError

__all__ = ["DeclaredRole", "RoleDeclarationError", "RoleRegistry", "SkillRegistry", "install", "registry"]

ENTRY_POINTS = "minara.skills"
SETTING = "MINARA_SKILL_MODULES"


class RoleDeclarationError(ConfigError):
    """A skill or role cannot be registered; the start fails."""


class SkillRegistry:
    """The skills by id, each with the module that declares it, in the order in which they were registered."""

    def __init__(self) -> None:
        self._skills: dict[str, tuple[DomainSkill, str]] = {}

    @classmethod
    def of(cls, skills: Iterable[DomainSkill], *, module: str = "") -> Self:
        """Return a registry of these skills."""
        registry = cls()
        for skill in skills:
            registry.register(skill, module=module)
        return registry

    def register(self, skill: DomainSkill, *, module: str) -> None:
        """Add a skill. Raises RoleDeclarationError when its id is taken."""
        if skill.id in self._skills:
            owners = f"{self.module_of(skill.id)} and {module}"
            raise RoleDeclarationError(f"the skill {skill.id} is declared twice, by {owners}; rename one")
        self._skills[skill.id] = (skill, module)

    def module_of(self, skill_id: str) -> str:
        """Return the module that declares a skill."""
        return self._skills[skill_id][1]

    def __iter__(self) -> Iterator[DomainSkill]:
        return (skill for skill, _module in self._skills.values())


class RoleRegistry:
    """The roles by id, and by the skill that owns them. Immutable once built."""

    def __init__(self, roles: dict[str, DeclaredRole]) -> None:
        self._roles = roles

    @classmethod
    def from_skill_registry(cls, skills: SkillRegistry | Iterable[DomainSkill]) -> Self:
        """Index the roles of every skill.

        Raises RoleDeclarationError for an id that two skills declare, a custom probe that nobody registered, and a
        tool to run again that is not registered as one that only reads.
        """
        known = skills if isinstance(skills, SkillRegistry) else SkillRegistry.of(skills)
        roles: dict[str, DeclaredRole] = {}
        for skill in known:
            for role in skill.memory_roles:
                check_role(role, skill, other=roles.get(role.id))
                roles[role.id] = DeclaredRole(role, skill)
        return cls(dict(sorted(roles.items())))

    def find(self, role_id: str) -> DeclaredRole | None:
        """Return the role of this id, None when no skill declares it (any more)."""
        return self._roles.get(role_id)

    def all(self) -> tuple[DeclaredRole, ...]:
        """Return every role, in the order of their ids."""
        return tuple(self._roles.values())

    def known(self) -> str:
        """Return the ids of all roles as a sentence names them."""
        return ", ".join(self._roles)


def check_role(
    role: MemoryRole,
    skill: DomainSkill,
    *,
    other: DeclaredRole | None,
) -> None:
    """Raise RoleDeclarationError unless the role can be registered beside those that are."""
    if other is not None:
        raise RoleDeclarationError(
            f"the role {role.id} is declared twice, by the skills {other.skill.id} and {skill.id}; rename one"
        )
    probe = role.reflection_policy.outcome_probe
    if isinstance(probe, Custom) and probe.probe_id not in custom_probes():
        known = ", ".join(sorted(custom_probes()))
        raise RoleDeclarationError(
            f"the role {role.id} of the skill {skill.id} asks for the probe {probe.probe_id!r}, "
            f"which nobody registered; known are: {known}"
        )
    for source in role.reflection_policy.post_hoc_probes:
        if isinstance(source, RefetchSource):
            check_refetch(source, role, skill)


def check_refetch(source: RefetchSource, role: MemoryRole, skill: DomainSkill) -> None:
    """Raise RoleDeclarationError unless the tool is registered as one that only reads, and takes what it is given."""
    tool = find_source(source.tool)
    if tool is None:
        known = ", ".join(each.name for each in list_sources())
        raise RoleDeclarationError(
            f"the role {role.id} of the skill {skill.id} runs the tool {source.tool!r} again, "
            f"which is not registered as one that only reads; known are: {known}"
        )
    try:
        map_parameters(source.param_mapper, {}, tool.parameters)
    except ValueError as error:
        raise RoleDeclarationError(f"the role {role.id} of the skill {skill.id}: {source.tool}: {error}") from error


_current: RoleRegistry | None = None


def registry() -> RoleRegistry:
    """Return the roles of this process; the start has built them, code alone can change them."""
    global _current  # noqa: PLW0603 - code does not change while it runs
    if _current is None:
        _current = RoleRegistry.from_skill_registry(load_skills())
    return _current


def install(roles: RoleRegistry | None) -> None:
    """Let these be the roles of this process; None loads the declared ones again when they are asked for."""
    global _current  # noqa: PLW0603
    _current = roles


def load_skills() -> SkillRegistry:
    """Return the built-in skills and those of own modules. Raises RoleDeclarationError."""
    skills = SkillRegistry()
    for module in (*builtin.MODULES, *own_modules()):
        found = getattr(module, "SKILLS", None)
        if not isinstance(found, list | tuple) or not all(isinstance(each, DomainSkill) for each in found):
            raise RoleDeclarationError(f"the module {module.__name__} needs a list SKILLS of DomainSkill")
        for skill in found:
            skills.register(skill, module=module.__name__)
    return skills


def own_modules() -> Iterator[ModuleType]:
    """Yield the modules of the setting, then those that installed packages name. Raises RoleDeclarationError."""
    for name in dict.fromkeys(settings.MINARA.minara_skill_modules):
        yield import_skills(name, named_by=SETTING)
    for point in sorted(entry_points(group=ENTRY_POINTS), key=lambda each: each.name):
        yield import_skills(point.module, named_by=f"the entry point {point.name}")


def import_skills(name: str, *, named_by: str) -> ModuleType:
    """Import a module. Raises RoleDeclarationError with what went wrong in it, in one line."""
    try:
        return importlib.import_module(name)
    except Exception as error:
        reason = f"{type(error).__name__}: {error}".partition("\n")[0]
        raise RoleDeclarationError(f"{named_by}: the module {name} cannot be imported: {reason}") from error
