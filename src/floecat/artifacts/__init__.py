"""Layouts of what lies in the blob store: segment, sidecar, scan index.

Each is written and read in one place. Knows bytes and Arrow;
doesn't decide when an artifact is made or who may see it.
"""
