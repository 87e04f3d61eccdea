"""The key-value port and its backends: ordered records, committed together."""
