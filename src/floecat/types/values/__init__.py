"""Values, kind by kind: read from whatever holds one, and written as canonical strings."""
