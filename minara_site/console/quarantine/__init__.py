"""The review queue: one list over every kind of text that the guard holds, and the decision on each. Screens U-19."""
