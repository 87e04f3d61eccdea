"""Secrets, secrets stores, credential resolution and exchange, and the outbound guard.

Everything that must never be printed passes through here. Who may call what is decided in
`service`.
"""
