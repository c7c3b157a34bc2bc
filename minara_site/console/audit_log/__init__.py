"""`/ops/audit-log/`: every recorded act in words, found by who, what, whose and when, and whether the log is whole."""
