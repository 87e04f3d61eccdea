"""The statistics engine SPI, the stats store, its registry and orchestrator; index artifacts.

Asks for follow-up captures through a port it owns; never talks to the queue itself.
"""
