"""The patterns of injection that ship. Each names one way in which a text gives orders to the agent that reads it."""

from minara_site.kernel.core.data_files import load_toml
from minara_site.kernel.core.injection import Pattern, Phrase

PATTERNS: tuple[Pattern, ...] = tuple(
    Pattern(
        pattern_id,
        phrases=tuple(Phrase(*phrase) for phrase in pattern.get("phrases", ())),
        shapes=tuple(shape.replace("\n", "") for shape in pattern.get("shapes", ())),
    )
    for pattern_id, pattern in load_toml(__package__, "injection_patterns.toml").items()
)
