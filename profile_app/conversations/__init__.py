"""What was said, as evidence: the turns of a session with the facts that were taken from each."""
