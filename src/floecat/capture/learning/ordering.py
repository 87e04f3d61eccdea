"""The least and the greatest of many byte strings, by their first bytes where those tell."""

import numpy as np
import polars as pl


def byte_ends(values: pl.Series) -> tuple[bytes, bytes]:
    """The least and the greatest of binary values; there is one at least, and no null.

    Polars keeps the length and the first four bytes of each value side by side, sixteen bytes for
    one. Most values are ruled out by these, without a look at where the rest of them lies.
    """
    views = values.rechunk().to_arrow(compat_level=pl.CompatLevel.newest())
    words = np.frombuffer(views.buffers()[1], np.uint32)
    words = words[4 * views.offset : 4 * (views.offset + len(views))]
    first = words[1::4].byteswap()  # so that they order like bytes do; short ones end in zeros
    low = values.filter(pl.Series(first == first.min())).min()
    high = values.filter(pl.Series(first == first.max())).max()
    if not (isinstance(low, bytes) and isinstance(high, bytes)):
        raise TypeError(f"these are {values.dtype}, and not binary")
    return low, high
