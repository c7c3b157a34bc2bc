"""Pure rules: what audit entries say was written, what becomes of each row, and which writing is unusual."""
