"""Iceberg's single-value bytes, both ways, one value or one Arrow array at a time."""
