"""Tests of the onboarding."""
