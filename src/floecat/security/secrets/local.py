"""Secrets as AES-GCM ciphertext in the key-value store; only the key lies elsewhere, in a file.

secret/{account} {reference}    ciphertext, bound to account and reference
secrets key                     which key it is, so that a wrong one is noticed at start
"""

import hashlib
import secrets
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from floecat.clock import Clock, utc_now
from floecat.errors import ConflictError, DataLossError
from floecat.security.secret import Secret
from floecat.security.secrets.keyfile import KeyFileError
from floecat.security.secrets.port import SecretInfo, missing
from floecat.storage.kv.port import ABSENT, ANY, Delete, Key, KeyValueStore, Operation, Put

_AREA: Final = "secret"
_KEY_ROW: Final = Key("secrets", "key")
_VERSION: Final = b"\x01"
_NONCE_BYTES: Final = 12
_TIME_BYTES: Final = 8


class LocalSecretsStore:
    """Encrypts with one key. A copy of the records is worth nothing without the key file."""

    def __init__(self, kv: KeyValueStore, key: Secret[bytes], clock: Clock = utc_now) -> None:
        self._kv = kv
        self._cipher = AESGCM(key.reveal())
        self._clock = clock
        self._require_same_key(_fingerprint(key))

    def put(self, account: str, reference: str, content: Secret[bytes]) -> tuple[Operation, ...]:
        nonce = secrets.token_bytes(_NONCE_BYTES)
        bound = _bound_to(account, reference)
        stamp = int(self._clock().timestamp()).to_bytes(_TIME_BYTES, "big")
        ciphertext = self._cipher.encrypt(nonce, content.reveal(), stamp + bound)
        value = _VERSION + stamp + nonce + ciphertext
        return (Put(_row(account, reference), value, ABSENT),)

    def remove(self, account: str, reference: str) -> tuple[Operation, ...]:
        return (Delete(_row(account, reference), ANY),)

    def get(self, account: str, reference: str) -> Secret[bytes]:
        record = self._kv.get(_row(account, reference))
        if record is None:
            raise missing(reference)
        stamp, nonce, ciphertext = _parts(record.value)
        bound = _bound_to(account, reference)
        try:
            return Secret(self._cipher.decrypt(nonce, ciphertext, stamp + bound))
        except InvalidTag as error:
            raise DataLossError(
                f"the secret {reference!r} isn't as it was written: give the credentials again",
                metadata={"reference": reference},
            ) from error

    def delete(self, account: str, reference: str) -> None:
        row = _row(account, reference)
        if self._kv.get(row) is not None:
            self._kv.commit([Delete(row, ANY)])

    def list(self) -> Iterator[SecretInfo]:
        for record in self._kv.dump():
            area, _, account = record.key.partition.partition("/")
            if area == _AREA and account:
                stamp, _, _ = _parts(record.value)
                created = datetime.fromtimestamp(int.from_bytes(stamp, "big"), UTC)
                yield SecretInfo(account, record.key.sort, created)

    def close(self) -> None:
        """Nothing is held: the records belong to someone else."""

    def _require_same_key(self, fingerprint: bytes) -> None:
        row = self._kv.get(_KEY_ROW)
        if row is None:
            try:
                self._kv.commit([Put(_KEY_ROW, fingerprint, ABSENT)])
            except ConflictError:
                row = self._kv.get(_KEY_ROW)
        if row is not None and row.value != fingerprint:
            raise KeyFileError(
                "the secrets key isn't the one this store's secrets were encrypted with: put the "
                "right file where secrets.local.key-file says, or restore it from a backup"
            )


def has_secrets(kv: KeyValueStore) -> bool:
    """Whether a store was ever used with a key, which is then needed again."""
    return kv.get(_KEY_ROW) is not None


def forget_secrets(kv: KeyValueStore) -> int:
    """Delete every secret, and with them the need for their key; how many there were."""
    rows = [r.key for r in kv.dump() if r.key.partition.partition("/")[0] == _AREA]
    for row in rows:
        kv.commit([Delete(row, ANY)])
    kv.commit([Delete(_KEY_ROW, ANY)])
    return len(rows)


def _fingerprint(key: Secret[bytes]) -> bytes:
    return hashlib.sha256(b"floecat secrets key" + key.reveal()).digest()[:8]


def _row(account: str, reference: str) -> Key:
    return Key(f"{_AREA}/{account}", reference)


def _bound_to(account: str, reference: str) -> bytes:
    """A ciphertext moved to another account or reference can't be decrypted there."""
    return f"{account}\x00{reference}".encode()


def _parts(value: bytes) -> tuple[bytes, bytes, bytes]:
    body = value[len(_VERSION) :]
    if value[: len(_VERSION)] != _VERSION or len(body) < _TIME_BYTES + _NONCE_BYTES:
        raise DataLossError("a secret's record can't be read: give the credentials again")
    nonce_end = _TIME_BYTES + _NONCE_BYTES
    return body[:_TIME_BYTES], body[_TIME_BYTES:nonce_end], body[nonce_end:]
