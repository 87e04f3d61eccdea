"""Two ports and their backends: `kv` (ordered records) and `blobs` (immutable content).

Knows bytes, keys and versions; never what a table or a job is.
"""
