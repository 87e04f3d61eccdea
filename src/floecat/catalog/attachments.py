"""Payloads that only a table format understands: in the record if small, else in blobs."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from ai.floedb.floecat.catalog.snapshot_pb2 import AttachmentInfo, Snapshot
from ai.floedb.floecat.common.common_pb2 import BlobReference
from floecat.catalog.codec import Codec, Stored
from floecat.catalog.names import cleaned_name
from floecat.errors import InvalidArgumentError

MAX_INLINE_BYTES: Final = 32 * 1024
"""More than this, all attachments of a snapshot together, and each becomes a blob."""

MAX_ATTACHMENTS: Final = 64

MAX_ANSWER_BYTES: Final = 512 * 1024
"""More than this and an answer carries no attachments; ReadSnapshotAttachment streams them."""

CHUNK_BYTES: Final = 256 * 1024


@dataclass(frozen=True, slots=True)
class KeptAttachments:
    """Where the attachments of one snapshot are."""

    inline: Mapping[str, bytes]
    blobs: Mapping[str, BlobReference]


class Attachments:
    """Keeps and reads attachments."""

    def __init__(self, codec: Codec) -> None:
        self._codec = codec

    def keep(self, account: str, attachments: Mapping[str, bytes]) -> KeptAttachments:
        """Write what is too large for the record; harmless if the snapshot is never committed."""
        if sum(map(len, attachments.values())) <= MAX_INLINE_BYTES:
            return KeptAttachments(dict(attachments), {})
        blobs = {name: self._codec.spill(account, [data]) for name, data in attachments.items()}
        return KeptAttachments({}, blobs)

    def shown(self, stored: Stored[Snapshot]) -> Snapshot:
        """A snapshot as an answer carries it: with its attachments, if they fit."""
        shown = Snapshot()
        shown.CopyFrom(stored.message)
        if sum(info.size_bytes for info in shown.attachment_infos) <= MAX_ANSWER_BYTES:
            for name, reference in stored.attachments.items():
                shown.attachments[name] = self._codec.read(reference)
        return shown

    def read(self, stored: Stored[Snapshot], name: str) -> Iterator[bytes] | None:
        """An attachment's bytes in pieces; None if there is none of that name."""
        if name in stored.attachments:
            return self._codec.pieces(stored.attachments[name], CHUNK_BYTES)
        if name not in stored.message.attachments:
            return None
        data = stored.message.attachments[name]
        return (data[at : at + CHUNK_BYTES] for at in range(0, max(len(data), 1), CHUNK_BYTES))

    def receive(self, account: str, pieces: Iterable[bytes]) -> BlobReference:
        """Write an attachment as it comes; harmless if it is never committed."""
        return self._codec.spill(account, pieces)


def check_attachments(attachments: Mapping[str, bytes]) -> None:
    """Refuse more than a record can list, before anything is written."""
    field = "spec.attachments"
    check_count(len(attachments), field)
    for name in attachments:
        if cleaned_name(name, field) != name:
            raise InvalidArgumentError(
                f"the attachment {name!r} has spaces around its name, or isn't NFC-normalised",
                field=field,
            )


def check_count(count: int, field: str) -> None:
    """Refuse more attachments than a snapshot can have."""
    if count > MAX_ATTACHMENTS:
        raise InvalidArgumentError(
            f"a snapshot has at most {MAX_ATTACHMENTS} attachments, not {count}: "
            "put several into one",
            field=field,
        )


def infos_of(attachments: Mapping[str, bytes]) -> list[AttachmentInfo]:
    """What listings say of attachments, by name."""
    return [
        AttachmentInfo(
            name=name,
            size_bytes=len(attachments[name]),
            sha256=hashlib.sha256(attachments[name]).hexdigest(),
        )
        for name in sorted(attachments)
    ]
