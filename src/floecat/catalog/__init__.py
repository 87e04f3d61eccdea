"""Accounts, catalogs, namespaces, tables, views, snapshots, constraints and the directory.

Repositories turn messages into key-value operations and keep the rules; no transport, no cache.
"""
