"""Five questions that fill tags and memories. Source: S3 (onboarding)."""
