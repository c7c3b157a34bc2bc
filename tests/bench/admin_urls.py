"""The project's addresses and the admin with the memories table, as its documentation sets it up."""

from django.contrib import admin
from django.urls import path

from memory_app.memories.models import Memory
from minara_site.urls import handler400, handler403, handler404, handler500, urlpatterns as project_urls

__all__ = ["handler400", "handler403", "handler404", "handler500"]


@admin.register(Memory)
class MemoryAdmin(admin.ModelAdmin):
    """Columns and order of our own list."""

    list_display = ["content", "category", "source", "updated_at"]
    ordering = ["-updated_at", "-id"]
    list_per_page = 50
    show_full_result_count = True


urlpatterns = [*project_urls, path("admin/", admin.site.urls)]
