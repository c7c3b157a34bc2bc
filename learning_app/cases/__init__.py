"""Trading cases: decisions that prices judge, and what that says of the methodologies shown with them. Source: S2, S3.

A case is written once and read-only from then on; only the learning cron adds its outcome.
"""
