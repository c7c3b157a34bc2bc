"""The app's sections of the doctor's report."""

from memory_app.doctor.sections.instance import instance_section
from memory_app.doctor.sections.learning import learning_section
from memory_app.doctor.sections.memory import memory_section
from memory_app.doctor.sections.roles import roles_section
from minara_site.kernel.doctor.scope import ReportSection

SECTIONS = (
    ReportSection("house", instance_section),
    ReportSection("memory", memory_section),
    ReportSection("role_memory", roles_section),
    ReportSection("learning", learning_section),
)
