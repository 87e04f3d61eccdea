"""Parquet's leaves, from files pyarrow writes: types, and the bytes of their statistics."""

import datetime as dt
import io
import struct
import uuid
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from floecat.types import logical as types
from floecat.types.encoding import ValueEncoders
from floecat.types.errors import InvalidValueError, UnsupportedTypeError
from floecat.types.mapping.parquet import (
    Annotation,
    ParquetColumn,
    from_parquet,
    of_converted,
    of_logical,
)
from floecat.types.mapping.parquetvalues import decode_parquet_value

ENCODERS = ValueEncoders()


def written(array: pa.Array, **options: Any) -> tuple[ParquetColumn, Any]:
    """The column, and its statistics, of a file that holds just this array."""
    file = io.BytesIO()
    pq.write_table(pa.table({"a": array}), file, **options)
    parquet = pq.ParquetFile(file)
    return (
        ParquetColumn.of_pyarrow(parquet.schema.column(0)),
        parquet.metadata.row_group(0).column(0).statistics,
    )


def plain(physical: str, value: Any) -> bytes:
    """Parquet's plain encoding of what pyarrow calls a raw statistic."""
    layouts = {"BOOLEAN": "<?", "INT32": "<i", "INT64": "<q", "FLOAT": "<f", "DOUBLE": "<d"}
    return struct.pack(layouts[physical], value) if physical in layouts else bytes(value)


def exactly_bytes(count: int) -> st.SearchStrategy[bytes]:
    return st.binary(min_size=count, max_size=count)


COLUMNS: list[tuple[pa.Array, str, list[str]]] = [
    (pa.array([False, True]), "BOOLEAN", ["false", "true"]),
    (pa.array([-5, 5], pa.int8()), "INT", ["-5", "5"]),
    (pa.array([5, 255], pa.uint8()), "INT", ["5", "255"]),
    (pa.array([5, 2**64 - 1], pa.uint64()), "INT", ["5", "18446744073709551615"]),
    (pa.array([5, 2**32 - 1], pa.uint32()), "INT", ["5", "4294967295"]),
    (pa.array([-1.5, 2.5], pa.float32()), "FLOAT", ["-1.5", "2.5"]),
    (pa.array([-1.5, 1e300]), "DOUBLE", ["-1.5", "1.0E300"]),
    (pa.array(np.array([-1.5, 2], np.float16)), "FLOAT", ["-1.5", "2.0"]),
    (pa.array([-1, 19_723], pa.date32()), "DATE", ["1969-12-31", "2024-01-01"]),
    (pa.array([0, 1], pa.time32("ms")), "TIME(3)", ["00:00:00.000", "00:00:00.001"]),
    (pa.array([0, 1_001], pa.time64("ns")), "TIME", ["00:00:00", "00:00:00.000001"]),
    (
        pa.array([-1, 1], pa.timestamp("us")),
        "TIMESTAMP",
        ["1969-12-31T23:59:59.999999", "1970-01-01T00:00:00.000001"],
    ),
    (
        pa.array([0, 1], pa.timestamp("ms", "Asia/Tokyo")),
        "TIMESTAMPTZ(3)",
        ["1970-01-01T00:00:00.000Z", "1970-01-01T00:00:00.001Z"],
    ),
    (
        pa.array([-(2**62), 2**62], pa.timestamp("us")),
        "TIMESTAMP",
        ["-144169-06-28T09:59:32.612096", "+148108-07-06T14:00:27.387904"],
    ),
    (pa.array(["a", "é"]), "STRING", ["a", "é"]),
    (pa.array([b"\x00", b"\xff"]), "BINARY", ["AA==", "/w=="]),
    (pa.array([b"ab", b"cd"], pa.binary(2)), "BINARY", ["YWI=", "Y2Q="]),
    (
        pa.array([uuid.UUID(int=1).bytes, uuid.UUID(int=2).bytes], pa.uuid()),
        "UUID",
        [str(uuid.UUID(int=1)), str(uuid.UUID(int=2))],
    ),
    *(
        (
            pa.array([Decimal("-1.50"), Decimal("2.25")], pa.decimal128(precision, 2)),
            f"DECIMAL({precision},2)",
            ["-1.5", "2.25"],
        )
        for precision in (9, 18, 38)
    ),
    (
        pa.array([Decimal("-1.5"), Decimal(10) ** 60], pa.decimal256(76, 3)),
        "DECIMAL(76,3)",
        ["-1.5", "1" + "0" * 60],
    ),
]


@pytest.mark.parametrize(("array", "logical", "bounds"), COLUMNS)
@pytest.mark.parametrize("as_integer", [False, True])
def test_columns_and_their_statistics(
    array: pa.Array, logical: str, bounds: list[str], *, as_integer: bool
) -> None:
    column, statistics = written(array, store_decimal_as_integer=as_integer)
    assert str(from_parquet(column)) == logical
    data = [plain(column.physical, raw) for raw in _raw_bounds(array, column, statistics)]
    decoded = [decode_parquet_value(column, each) for each in data]
    assert [ENCODERS.encode_to_string(from_parquet(column), each) for each in decoded] == bounds


def _raw_bounds(array: pa.Array, column: ParquetColumn, statistics: Any) -> list[Any]:
    """What the footer holds; pyarrow shows no raw statistics for half floats and fixed decimals."""
    if statistics is not None and statistics.has_min_max:
        return [statistics.min_raw, statistics.max_raw]
    if column.annotation.name == "FLOAT16":
        return [struct.pack("<e", value) for value in array.to_pylist()]
    width = column.length
    unscaled = [int(value.scaleb(column.annotation.scale)) for value in array.to_pylist()]
    return [value.to_bytes(width, "big", signed=True) for value in unscaled]


def test_int96_is_an_instant_unless_the_table_knows_better() -> None:
    column, _ = written(pa.array([0], pa.timestamp("ns")), use_deprecated_int96_timestamps=True)
    assert column.physical == "INT96"
    assert str(from_parquet(column)) == "TIMESTAMPTZ"
    data = struct.pack("<qi", 1_500, 2_440_588)
    assert decode_parquet_value(column, data) == np.datetime64(1_500, "ns")
    ancient = struct.pack("<qi", 1, 0)  # noon of 4714 BC, when Julian days begin, less half a day
    value = decode_parquet_value(column, ancient)
    assert ENCODERS.encode_to_string(from_parquet(column), value) == "-4713-11-24T00:00:00Z"
    assert ENCODERS.encode_to_string(types.TIMESTAMP, value) == "-4713-11-24T00:00:00"


def test_an_unadjusted_timestamp_is_not_shifted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    column = ParquetColumn("a", "INT64", Annotation("TIMESTAMP", unit="us", is_utc=False))
    value = decode_parquet_value(column, struct.pack("<q", 0))
    assert ENCODERS.encode_to_string(from_parquet(column), value) == "1970-01-01T00:00:00"


@pytest.mark.parametrize(
    ("converted", "physical", "logical"),
    [
        ("UTF8", "BYTE_ARRAY", "STRING"),
        ("ENUM", "BYTE_ARRAY", "STRING"),
        ("JSON", "BYTE_ARRAY", "JSON"),
        ("BSON", "BYTE_ARRAY", "BINARY"),
        ("DATE", "INT32", "DATE"),
        ("TIME_MILLIS", "INT32", "TIME(3)"),
        ("TIME_MICROS", "INT64", "TIME"),
        ("TIMESTAMP_MILLIS", "INT64", "TIMESTAMPTZ(3)"),
        ("TIMESTAMP_MICROS", "INT64", "TIMESTAMPTZ"),
        *((f"{sign}INT_{bits}", "INT64", "INT") for sign in ("", "U") for bits in (8, 16, 32, 64)),
        ("DECIMAL", "FIXED_LEN_BYTE_ARRAY", "DECIMAL(9,2)"),
        ("INTERVAL", "FIXED_LEN_BYTE_ARRAY", "INTERVAL"),
        ("NONE", "INT32", "INT"),
        ("NONE", "FIXED_LEN_BYTE_ARRAY", "BINARY"),
    ],
)
def test_converted_types_of_old_files(converted: str, physical: str, logical: str) -> None:
    column = ParquetColumn("a", physical, of_converted(converted, 9, 2))
    assert str(from_parquet(column)) == logical


def test_unsigned_converted_types_read_unsigned() -> None:
    column = ParquetColumn("a", "INT32", of_converted("UINT_32"))
    assert decode_parquet_value(column, b"\xff\xff\xff\xff") == 2**32 - 1


def test_an_interval_is_kept_as_a_duration() -> None:
    column = ParquetColumn("a", "FIXED_LEN_BYTE_ARRAY", of_converted("INTERVAL"), 12)
    value = decode_parquet_value(column, struct.pack("<III", 14, 3, 1_500))
    assert ENCODERS.encode_to_string(from_parquet(column), value) == "P1Y2M3DT1.5S"


@pytest.mark.parametrize(
    "annotation",
    [
        Annotation("HOLOGRAM"),
        Annotation("DECIMAL", precision=95, scale=2),
        Annotation("DECIMAL"),
        of_logical({"Type": "Timestamp", "timeUnit": "fortnights"}),
    ],
)
def test_unknown_types_name_the_column(annotation: Annotation) -> None:
    with pytest.raises(UnsupportedTypeError, match=r"column 'a\.b'"):
        from_parquet(ParquetColumn("a.b", "FIXED_LEN_BYTE_ARRAY", annotation, 40))


@pytest.mark.parametrize(
    ("physical", "annotation", "data"),
    [
        ("INT32", Annotation("NONE"), bytes(3)),
        ("INT96", Annotation("NONE"), bytes(8)),
        ("INT96", Annotation("DATE"), bytes(12)),
        ("FIXED_LEN_BYTE_ARRAY", Annotation("UUID"), bytes(15)),
        ("FIXED_LEN_BYTE_ARRAY", Annotation("FLOAT16"), bytes(4)),
        ("BYTE_ARRAY", Annotation("DECIMAL", precision=9), b""),
        ("BYTE_ARRAY", Annotation("STRING"), b"\xff"),
        ("BYTE_ARRAY", Annotation("DECIMAL", precision=9), b"\x7f" * 3_000),
        ("INT32", Annotation("DECIMAL", precision=9, scale=10**9), bytes([1, 0, 0, 0])),
        ("INT32", Annotation("DECIMAL", precision=9, scale=-(10**9)), bytes([1, 0, 0, 0])),
        ("DOUBLE", Annotation("DECIMAL", precision=9), bytes(8)),
        ("INT64", Annotation("TIME", unit="us"), struct.pack("<q", 2**63 - 1)),
        ("INT64", Annotation("TIME", unit="us"), struct.pack("<q", -1)),
        ("INT64", Annotation("TIME"), bytes(8)),
        ("INT64", Annotation("TIMESTAMP"), bytes(8)),
        ("DOUBLE", Annotation("TIMESTAMP", unit="us"), struct.pack("<d", float("nan"))),
        ("DOUBLE", Annotation("DATE"), bytes(8)),
        ("INT64", Annotation("DATE"), struct.pack("<q", -(2**63))),
        ("FIXED_LEN_BYTE_ARRAY", Annotation("INTERVAL"), struct.pack("<III", 2**31, 0, 0)),
        ("FIXED_LEN_BYTE_ARRAY", Annotation("INTERVAL"), bytes(11)),
        ("INT128", Annotation("NONE"), bytes(16)),
    ],
)
def test_bytes_of_no_value_name_the_column(
    physical: str, annotation: Annotation, data: bytes
) -> None:
    with pytest.raises(InvalidValueError, match=r"column 'a\.b'"):
        decode_parquet_value(ParquetColumn("a.b", physical, annotation), data)


def test_dates_beyond_pythons_years() -> None:
    column = ParquetColumn("a", "INT32", Annotation("DATE"))
    value = decode_parquet_value(column, struct.pack("<i", 2**31 - 1))
    assert ENCODERS.encode_to_string(from_parquet(column), value) == "+5881580-07-11"
    assert decode_parquet_value(column, bytes(4)) == dt.date(1970, 1, 1)


ANNOTATIONS = st.builds(
    Annotation,
    st.sampled_from(
        [
            *("NONE", "DECIMAL", "DATE", "TIME", "TIMESTAMP", "INT", "STRING", "JSON", "UUID"),
            *("FLOAT16", "INTERVAL", "BSON", "VARIANT", "HOLOGRAM"),
        ]
    ),
    unit=st.sampled_from(["", "ms", "us", "ns"]),
    is_signed=st.booleans(),
    scale=st.integers(-(2**31), 2**31 - 1) | st.integers(0, 38),
)
PHYSICAL = st.sampled_from(
    [
        *("BOOLEAN", "INT32", "INT64", "INT96", "FLOAT", "DOUBLE"),
        *("BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY", "INT128"),
    ]
)


@given(PHYSICAL, ANNOTATIONS, st.sampled_from([1, 2, 4, 8, 12, 16, 600]).flatmap(exactly_bytes))
def test_any_footer_gives_a_value_or_a_proper_error(
    physical: str, annotation: Annotation, data: bytes
) -> None:
    column = ParquetColumn("a.b", physical, annotation)
    try:
        logical = from_parquet(column)
        value = decode_parquet_value(column, data)
    except (InvalidValueError, UnsupportedTypeError) as error:
        located = error.metadata["column"]
    else:
        located = "a.b"
        if logical.kind.is_orderable:
            ENCODERS.encode_to_string(logical, value)
    assert located == "a.b"
