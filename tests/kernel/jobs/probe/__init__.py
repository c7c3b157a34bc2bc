"""An app for tests: jobs that leave a countable effect, in an installation with short waits."""
