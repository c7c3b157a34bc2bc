"""The tables of the sources' database that this app brings in."""

from profile_app.portrait.importer import UserTagsTable

IMPORT_TABLES = (UserTagsTable(),)
