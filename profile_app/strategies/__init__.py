"""Activations of autopilot strategies, and the markets that they and fills show. For operators alone. Source: S3."""
