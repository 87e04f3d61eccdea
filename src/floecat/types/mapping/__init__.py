"""The types of Arrow, Parquet, Iceberg and Delta to logical types and, where they have one, back.

Knows their written forms only, not the libraries that read tables. A type without a counterpart is
an `UnsupportedTypeError` that names the column.
"""
