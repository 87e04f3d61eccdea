"""The blob port and its backends: immutable content, named once, verified by its hash."""
