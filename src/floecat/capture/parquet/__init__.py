"""What pyarrow doesn't say of a parquet file: page index, encodings of pages, exactness of bounds.

Reads bytes of strangers: nothing that they say is believed beyond the bytes that are there.
"""
