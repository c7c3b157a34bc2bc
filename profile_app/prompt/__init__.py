"""The prompt that a session is given: assembled, frozen, shown byte for byte, wiped. Sources: S1, S3, decisions."""
