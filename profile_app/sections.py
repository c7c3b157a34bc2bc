"""The app's section of the doctor's report."""

from minara_site.kernel.doctor.scope import ReportSection
from profile_app.rebuild.health import activity_section

SECTIONS = (ReportSection("activity", activity_section),)
