"""How connectors write a table's revision: short, whatever it is made from."""

import hashlib
from collections.abc import Mapping


def revision_of(*parts: object) -> str:
    """The same text for the same parts, and another one for others."""
    digest = hashlib.sha256()
    for part in parts:
        encoded = _text(part).encode("utf-8", "surrogatepass")
        digest.update(len(encoded).to_bytes(8, "big"))
        digest.update(encoded)
    return digest.hexdigest()


def _text(part: object) -> str:
    return repr(sorted(part.items())) if isinstance(part, Mapping) else str(part)
