"""Typed settings, read once at the edge."""
