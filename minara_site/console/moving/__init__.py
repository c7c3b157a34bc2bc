"""`minara move-to-postgres`: every row of an instance on SQLite, copied to a PostgreSQL database and compared there."""
