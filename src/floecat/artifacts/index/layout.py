"""How an index part's Arrow files are laid out."""

import hashlib
from typing import Final

import pyarrow as pa

from ai.floedb.floecat.catalog.stats_pb2 import FileIdentity

FORMAT_VERSION: Final = 2
MAX_ROWS: Final = 65_536

USES: Final = pa.list_(
    pa.struct([("segment", pa.int32()), ("file", pa.int32()), ("shape", pa.int32())])
)
"""Which segments know of a file, oldest first: by their number in the part, the file's number
there, and the number of what was learnt."""

CORE: Final = pa.schema(
    [
        pa.field("path", pa.large_string(), nullable=False),
        pa.field("size", pa.int64(), nullable=False),
        pa.field("format_mark", pa.large_string(), nullable=False),
        pa.field("identity", pa.uint64(), nullable=False),
        ("row_count", pa.int64()),
        ("partition_spec_id", pa.int32()),
        ("sequence_number", pa.int64()),
        ("failure", pa.large_string()),
        pa.field("segments", USES, nullable=False),
    ]
)
"""A row per file. `failure` is set where the file couldn't be read: it must never be pruned."""

SCAN_FILES: Final = pa.schema([pa.field("scan_file", pa.large_binary(), nullable=False)])

DELETES: Final = pa.schema(
    [
        pa.field("part", pa.int32(), nullable=False),
        pa.field("row", pa.int32(), nullable=False),
        pa.field("delete_files", pa.list_(pa.int32()), nullable=False),
        ("live_row_count", pa.int64()),
    ]
)
"""The files that deletes apply to, by part and row."""

KNOWN_DELETES: Final = pa.schema(
    [
        pa.field("delete_file", pa.int32(), nullable=False),
        pa.field("segment", pa.int32(), nullable=False),
        pa.field("file", pa.int32(), nullable=False),
    ]
)
"""The delete files whose positions are known, by number: in which of the index's delete segments,
and which of the delete files there."""


def partition_column(partition_field_id: int) -> str:
    """The core's column of a partition field."""
    return f"partition_{partition_field_id}"


def bounds_column(column_id: int) -> str:
    """What a column is called in a file of counts and bounds."""
    return str(column_id)


def identity_hash(identity: FileIdentity) -> int:
    """64 bits of a file's identity: where to look; what is found there still has to be compared."""
    path = identity.file_path.encode()
    digest = hashlib.blake2b(path, digest_size=8, salt=b"identity")
    digest.update(b"\x00%d\x00" % identity.size_bytes + identity.format_mark.encode())
    return int.from_bytes(digest.digest(), "little")
