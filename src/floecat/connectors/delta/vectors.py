"""Deletion vectors: where their bytes are."""

import base64
from typing import Final
from uuid import UUID

from ai.floedb.floecat.execution.scan_pb2 import DeletionVector as VectorMessage
from ai.floedb.floecat.execution.scan_pb2 import ScanFile, ScanFileContent
from floecat.connectors.delta.log.actions import DeletionVector
from floecat.connectors.spi.errors import BrokenTableError

FORMAT: Final = "delta-deletion-vector"
ENCODING: Final = "roaring-portable"
_UUID_TEXT: Final = 20
_Z85: Final = (
    b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"
)
_B85: Final = (
    b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~"
)
_TO_B85: Final = bytes.maketrans(_Z85, _B85)
"""Z85 and Python's base 85 differ only in their alphabets."""


def vector_file(vector: DeletionVector, root: str, data_file: str) -> ScanFile:
    """A deletion vector as a file that takes rows of one data file away."""
    described = VectorMessage(
        size_bytes=vector.size, cardinality=vector.cardinality, encoding=ENCODING
    )
    match vector.storage:
        case "u":
            described.file_path = f"{root}/{_relative(vector.path_or_data)}"
        case "p":
            described.file_path = vector.path_or_data
        case "i":
            described.inline_data = _decoded(vector.path_or_data)
        case _:
            raise BrokenTableError(f"{root} has a deletion vector of the unknown sort {vector!r}")
    described.offset = vector.offset or 0
    return ScanFile(
        file_path=described.file_path,
        file_size_bytes=vector.size,
        record_count=vector.cardinality,
        file_format=FORMAT,
        content=ScanFileContent.SFC_DELETION_VECTOR,
        referenced_data_file=data_file,
        deletion_vector=described,
    )


def _relative(text: str) -> str:
    """An optional prefix, and a uuid in twenty characters."""
    prefix, encoded = text[:-_UUID_TEXT], text[-_UUID_TEXT:]
    if len(encoded) != _UUID_TEXT:
        raise BrokenTableError("a deletion vector's text is too short for the name of its file")
    name = f"deletion_vector_{UUID(bytes=_decoded(encoded))}.bin"
    return f"{prefix}/{name}" if prefix else name


def _decoded(text: str) -> bytes:
    try:
        return base64.b85decode(text.encode("ascii").translate(_TO_B85))
    except ValueError as error:
        raise BrokenTableError("a deletion vector's text isn't Z85") from error
