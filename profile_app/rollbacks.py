"""The app's kinds of rows that writers write, which a roll-back changes."""

from profile_app.documents.rollback import DocumentRollback

ROLLBACKS = (DocumentRollback(),)
