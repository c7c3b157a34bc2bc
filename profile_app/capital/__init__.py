"""What a user has committed, measured at the sources: for operators alone. Source: S3 (capital metrics, R-46)."""
