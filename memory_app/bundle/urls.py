"""Addresses under `/ops/export/` and `/ops/import/`."""

from django.urls import path

from memory_app.bundle.views import exports, imports

app_name = "bundle"

urlpatterns = [
    path("export/", exports.exports, name="exports"),
    path("export/<int:export_id>/", exports.one, name="export"),
    path("export/<int:export_id>/progress/", exports.progress, name="export_progress"),
    path("export/<int:export_id>/download/", exports.download, name="download"),
    path("export/<int:export_id>/remove/", exports.remove, name="export_remove"),
    path("import/", imports.imports, name="imports"),
    path("import/<int:import_id>/", imports.one, name="import"),
    path("import/<int:import_id>/progress/", imports.progress, name="import_progress"),
    path("import/<int:import_id>/constraints/", imports.constraints, name="constraints"),
    path("import/<int:import_id>/remove/", imports.remove, name="import_remove"),
    path("import/<int:import_id>/apply/", imports.apply, name="apply"),
]
