"""Leases jobs through the client and runs one executor per leased job kind.

Talks gRPC to the control plane and writes blobs; reaches no store and no catalog of ours.
"""
