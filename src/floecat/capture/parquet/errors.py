"""What is wrong with a file that should be parquet."""

from floecat.errors import DataLossError


class MalformedParquetError(DataLossError):
    """Its bytes aren't what they should be."""
