"""numpy and pyarrow scalars to the Python value inside.

Dates, times and durations of either library keep their unit: `temporal` and `intervals` read them,
since Python's own classes can't hold every year or nanoseconds.
"""

import numpy as np
import pyarrow as pa

from floecat.types.errors import InvalidValueError


def unwrap(value: object) -> object:
    """The Python value of a scalar; anything else as it is. NULL is refused."""
    if isinstance(value, pa.Scalar):
        value = _unwrap_arrow(value)
    elif isinstance(value, np.generic) and not isinstance(value, np.datetime64 | np.timedelta64):
        value = value.item()
    if value is None:
        raise InvalidValueError("NULL has no canonical string; leave the bound unset")
    return value


def _unwrap_arrow(scalar: pa.Scalar) -> object:
    if not scalar.is_valid:
        return None
    match scalar:
        case pa.DictionaryScalar() | pa.RunEndEncodedScalar() | pa.ExtensionScalar():
            return unwrap(scalar.value)
        case (
            pa.TimestampScalar()
            | pa.Time32Scalar()
            | pa.Time64Scalar()
            | pa.Date64Scalar()
            | pa.Date32Scalar()
            | pa.DurationScalar()
        ):
            return scalar
        case pa.StringScalar():
            return _unwrap_text(scalar)
        case _:
            return scalar.as_py()


def _unwrap_text(scalar: pa.StringScalar) -> object:
    """Arrow doesn't promise that a string is UTF-8; if it isn't, its bytes say more."""
    try:
        return scalar.as_py()
    except UnicodeDecodeError:
        return scalar.as_buffer().to_pybytes()
