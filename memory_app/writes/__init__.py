"""Who wrote what, and undoing it: writers, anomalies, roll-back with preview and undo. Sources: trust P-07, P-09."""
