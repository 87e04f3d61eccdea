"""Typed settings, read once at the edge: defaults, then `floecat.toml`, then the environment.

`model` declares every key, `values` turns text into typed values and back, `load` reads the sources
and refuses what it doesn't know. Nothing else in Floecat reads a file or the environment for
configuration.
"""
