"""Logical types, canonical value encoding and ordering: the vocabulary statistics are written in.

Pure: knows pyarrow, numpy and the `types` messages, and nothing else of Floecat.
"""
