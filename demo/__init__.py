"""`make demo`: a small lakehouse, mirrored while one watches."""
