"""`/ops/jobs/`: what the worker does, when it did so last and does so next, how far it is, and what went wrong."""
