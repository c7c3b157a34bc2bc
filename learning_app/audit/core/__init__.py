"""The audit as pure functions: records in, scores, findings and the composite out."""
