"""Texts that a user writes for their agent, every version of them, under guard. Sources: S3, decisions (documents)."""
