"""What every room stands on: errors, events, the audit log, jobs, conversations. It knows none of the apps."""
