"""The append-only record of every write: who, what, why. Sources: S1 (memory_removed), S2, S3."""
