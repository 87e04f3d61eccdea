"""The job store: canonical state, ready queue, leases and lanes, each in a module of its own."""
