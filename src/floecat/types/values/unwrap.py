"""What is inside numpy's and pyarrow's scalars and arrays.

Dates, times and durations of either library keep their unit: `temporal` and `intervals` read them,
since Python's own classes can't hold every year or nanoseconds.
"""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

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


def unwrap_array(array: pa.Array) -> pa.Array:
    """The array without dictionaries, runs and extensions."""
    arrow_type = array.type
    if isinstance(arrow_type, pa.BaseExtensionType):
        return unwrap_array(array.storage)
    if pa.types.is_dictionary(arrow_type):
        return unwrap_array(array.dictionary_decode())
    if pa.types.is_run_end_encoded(arrow_type):
        return unwrap_array(pc.run_end_decode(array))
    return array


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
