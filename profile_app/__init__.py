"""Who the user is, and the prompt that is built from it all. Source: S3."""
