"""What the court stores: controls, blocks that became known, marks."""
