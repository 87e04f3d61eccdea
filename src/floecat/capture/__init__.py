"""The data pipeline on Spark: reads parquet files once and fills segments and sidecars.

Opens source files only through a connector's `FileAccess`; never touches the key-value store.
"""
