"""The Python client: stubs, channel, tokens, retries. What users import.

    import floecat

    with floecat.connect("localhost:9100") as clients:
        table = clients.directory.ResolveTable(...)

Calls take and return the contract's messages. Failures are `floecat.errors`.
"""
