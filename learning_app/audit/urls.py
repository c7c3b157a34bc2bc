"""Addresses of the learning audit, below `/audit/`."""

from django.urls import path

from learning_app.audit.views import findings, overview, report

app_name = "audit"
urlpatterns = [
    path("", overview.audit_page, name="page"),
    path("run/", overview.run, name="run"),
    path("passes/", report.pass_list, name="passes"),
    path("findings/", findings.finding_list, name="findings"),
    path("findings/acknowledge/", findings.acknowledge_findings, name="acknowledge"),
    path("findings/reopen/<int:acknowledgement_id>/", findings.reopen, name="reopen"),
    path("findings/restore/<int:acknowledgement_id>/", findings.restore, name="restore"),
    path("<int:report_id>/", report.report_page, name="report"),
    path("<int:report_id>/export.json", report.export, name="export"),
    path("<int:report_id>/<str:code>/", report.finding_page, name="finding"),
]
