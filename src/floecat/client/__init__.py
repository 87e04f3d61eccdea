"""The Python client: stubs, channel, tokens, retries. What users import."""
