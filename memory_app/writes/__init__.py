"""Who wrote what, and taking it back: writers, lights, roll-back with preview and undo. Sources: trust P-07, P-09."""
