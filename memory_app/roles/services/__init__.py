"""Everything that changes role memory: recording decisions, their outcomes, and reflecting on them."""
