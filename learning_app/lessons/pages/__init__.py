"""Pages of lessons, as plain values."""
