"""Control plane of the work: job store, leases, scheduling, finalization.

Decides what runs and accepts results; workers do the running and reach it over gRPC only.
"""
