"""Who this instance is: its key for signatures and the fingerprint of it. Source: S1 (instance_meta)."""
