"""The markdown round trip: export a tree, import it again. Source: S1 (markdown round-trip)."""
