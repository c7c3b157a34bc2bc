"""Planted faults: a list of slips that break a promise, and the runner that shows which test catches each of them."""
