"""Who the user is: the financial profile and ten tags. Source: S3 (financial profile and user tags)."""
