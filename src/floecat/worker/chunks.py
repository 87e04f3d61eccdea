"""Results cut into messages of bounded size."""

from collections.abc import Iterable, Iterator
from typing import Final, TypeVar

from google.protobuf.message import Message

from floecat.errors import LimitExceededError

M = TypeVar("M", bound=Message)

CHUNK_BYTES: Final = 512 * 1024
LARGEST_PART_BYTES: Final = 3 * 1024 * 1024
"""What a single part may have: a message of the contract has at most four."""


def bounded(parts: Iterable[M], limit: int = CHUNK_BYTES) -> Iterator[M]:
    """Parts put together into chunks of about the limit, in order.

    Each part is a chunk of its own kind that holds one thing, and isn't used by the caller again.
    """
    chunk: M | None = None
    size = 0
    for part in parts:
        cost = part.ByteSize()
        if cost > LARGEST_PART_BYTES:
            raise LimitExceededError(
                f"one part of the result has {cost} bytes; at most {LARGEST_PART_BYTES} can be sent"
            )
        if chunk is not None and size + cost > limit:
            yield chunk
            chunk = None
        if chunk is None:
            chunk, size = part, cost
        else:
            chunk.MergeFrom(part)
            size += cost
    if chunk is not None:
        yield chunk
