"""Post-hoc probes: evidence that is collected once the outcome is known, for the stages to read. Source: S0.

Everything here only reads. A source that fails is noted in the evidence and stops nothing.
"""

from memory_app.roles.posthoc import tools as _built_in  # noqa: F401 - they register themselves
from memory_app.roles.posthoc.collect import collect_evidence
from memory_app.roles.posthoc.sources import EvidenceContext, SourceTool, find_source, list_sources, register_source

__all__ = ["EvidenceContext", "SourceTool", "collect_evidence", "find_source", "list_sources", "register_source"]
