"""Compiled pages: what is known about an asset, as byte-deterministic markdown. Source: S1 (compiled pages)."""
