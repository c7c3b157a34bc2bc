"""The outside of post-hoc probes: endpoints that answer JSON."""
