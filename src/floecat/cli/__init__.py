"""The `floecat` command: a client of the API, drawn for people and, with `--json`, for machines."""
