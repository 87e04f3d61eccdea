"""Footers that mean one thing to us and another to pyarrow, or that ask for a lot of memory."""

import resource
import struct
from pathlib import Path

import pyarrow as pa
import pytest
from tests.support.captures import access_to, planned, wanted, written

from floecat.capture.columns import FilePolicy
from floecat.capture.failures import CaptureFailure
from floecat.capture.files import capture_file
from floecat.capture.opening import Opening
from floecat.capture.parquet.errors import MalformedParquetError
from floecat.capture.parquet.pages import parse_bounds
from floecat.capture.parquet.schemas import KnownSchemas
from floecat.capture.parquet.thrift import read_struct

SCHEMA = pa.schema([("a", pa.int64()), ("b", pa.int64())])
POLICY = FilePolicy(columns=wanted(SCHEMA))
MAGIC = b"PAR1"
_BINARY, _LIST, _SET, _STRUCT = 8, 9, 10, 12


def parts(path: Path) -> tuple[bytes, bytes]:
    """What lies before the footer, and the footer."""
    content = path.read_bytes()
    (length,) = struct.unpack("<I", content[-8:-4])
    return content[: -8 - length], content[-8 - length : -8]


def with_footer(path: Path, body: bytes, footer: bytes) -> Path:
    path.write_bytes(body + footer + struct.pack("<I", len(footer)) + MAGIC)
    return path


def number(value: int) -> bytes:
    """A whole number that isn't negative, as thrift writes it."""
    return varint(value << 1)


def varint(value: int) -> bytes:
    written_bytes = b""
    while value >= 0x80:
        written_bytes += bytes([value & 0x7F | 0x80])
        value >>= 7
    return written_bytes + bytes([value])


@pytest.fixture
def good(tmp_path: Path) -> Path:
    return written(tmp_path, pa.table({"a": [1, 2, 3], "b": [100, 200, 300]}, SCHEMA), "good")


@pytest.fixture
def turned(tmp_path: Path) -> Path:
    """The same columns in another order."""
    return written(tmp_path, pa.table({"b": [1, 2, 3], "a": [100, 200, 300]}), "turned")


def schema_list(footer: bytes) -> bytes:
    """The list of the schema's elements, as a footer has it behind its version."""
    assert footer[0] == 0x15, "the version comes first"
    assert footer[2] >> 4 == 1, "and the schema then"
    from floecat.capture.parquet.thrift import _skip

    return footer[3 : _skip(footer, 3, _LIST, 0)]


@pytest.mark.parametrize("trick", ["an end that isn't", "a second schema", "a set", "bytes"])
def test_a_file_that_is_read_differently_deceives_nobody(
    trick: str, tmp_path: Path, good: Path, turned: Path
) -> None:
    body, footer = parts(turned)
    other = schema_list(parts(good)[1])
    kind = {"bytes": _BINARY, "a set": _SET}.get(trick, _LIST)
    value = bytes([len(other)]) + other if trick == "bytes" else other
    second = bytes([kind]) + number(2) + value
    middle = b"\x10" if trick == "an end that isn't" else b""
    bad = with_footer(tmp_path / "bad", body, footer[:-1] + middle + second + b"\0")
    schemas = Opening(KnownSchemas())
    access = access_to(tmp_path)
    with pytest.raises(CaptureFailure):
        capture_file(access, planned(bad), POLICY, schemas)
    rows = capture_file(access, planned(good), POLICY, schemas).rows
    assert [(rows[n].minimum, rows[n].maximum) for n in (1, 2)] == [("1", "3"), ("100", "300")]


@pytest.mark.parametrize("size", [1 << 31, 1 << 45])
def test_numbers_where_bytes_should_be_cost_nothing(size: int, tmp_path: Path) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    bad = with_footer(tmp_path / "bad", MAGIC, b"\x26" + number(size) + b"\0")
    with pytest.raises(CaptureFailure):
        capture_file(access_to(tmp_path), planned(bad), POLICY)
    bounds = b"\x19\x16" + number(size)
    with pytest.raises(MalformedParquetError):
        parse_bounds(b"\x19\x11\x02" + bounds + bounds + b"\x15\x00\x00")
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 100 * 1024, "KiB"


def test_a_footer_that_lacks_something_fails_whoever_was_read_before(
    tmp_path: Path, good: Path
) -> None:
    body, footer = parts(good)
    schema = schema_list(footer)
    at = 3 + len(schema)
    assert footer[at] == 0x16, "the number of rows comes next"
    rows_end = at + 2
    # The header of what follows counts from the field before it.
    assert footer[rows_end] == 0x19
    short = footer[:at] + b"\x29" + footer[rows_end + 1 :]
    bad = with_footer(tmp_path / "bad", body, short)
    schemas = Opening(KnownSchemas())
    access = access_to(tmp_path)
    capture_file(access, planned(good), POLICY, schemas)
    with pytest.raises(CaptureFailure):
        capture_file(access, planned(bad), POLICY, schemas)


@pytest.mark.parametrize("content", [b"\x15\x02\x05\x02\x04\x00", b"\x10\x00", b"\x1c\x10\x00\x00"])
def test_fields_are_there_once_and_have_a_type(content: bytes) -> None:
    with pytest.raises(MalformedParquetError):
        read_struct(content)


@pytest.mark.parametrize("value", [0, -1, 63, -64, 2**31, 2**63 - 1, -(2**63)])
def test_numbers_of_every_length(value: int) -> None:
    zigzag = value << 1 if value >= 0 else (-value << 1) - 1
    assert read_struct(b"\x16" + varint(zigzag) + b"\0") == {1: value}
    with pytest.raises(MalformedParquetError, match="ends too early"):
        read_struct(b"\x16" + varint(zigzag | 1 << 70)[:-1])


def test_a_number_that_never_ends_is_refused() -> None:
    with pytest.raises(MalformedParquetError, match="too long"):
        read_struct(b"\x16" + b"\xff" * 100 + b"\0\0")
