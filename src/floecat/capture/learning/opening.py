"""Which way of learning a column's values in a file need."""

import pyarrow as pa

from floecat.capture.columns import WantedColumn
from floecat.capture.learning.base import Learning, Presence
from floecat.capture.learning.floats import FloatingPoint
from floecat.capture.learning.numbers import number_form
from floecat.capture.learning.texts import KINDS, Texts
from floecat.capture.learning.whole import WholeNumbers
from floecat.types.kinds import Kind


def learning_of(column: WantedColumn, file_type: pa.DataType, stored: str = "") -> Learning:
    """The way that suits a column whose values have some Arrow type in the file.

    `stored` is the physical type that parquet has them in, if they come from a file.
    """
    kind = column.logical_type.kind
    form = number_form(column, file_type, in_words=stored in {"INT32", "INT64"})
    if form is not None:
        # INT96 has nanoseconds, of which reading leaves microseconds.
        return WholeNumbers(column, form, is_cut=stored == "INT96")
    if kind in {Kind.FLOAT, Kind.DOUBLE}:
        return FloatingPoint(column)
    if kind in KINDS:
        return Texts(column)
    return Presence(column)
