"""The SQL, whole, so that every statement is prepared once. `?1 ?2` is the key, `?3` is now."""

from typing import Final

CREATE: Final = """
CREATE TABLE IF NOT EXISTS record (
    partition  BLOB NOT NULL,
    sort       BLOB NOT NULL,
    value      BLOB NOT NULL,
    version    INTEGER NOT NULL,
    expires_at INTEGER,  -- microseconds since 1970; NULL: never
    PRIMARY KEY (partition, sort)
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS record_expiry ON record (expires_at) WHERE expires_at IS NOT NULL;
"""

GET: Final = """
SELECT value, version, expires_at FROM record
WHERE partition = ?1 AND sort = ?2 AND (expires_at IS NULL OR expires_at > ?3)
"""


def get_many(sorts: int) -> str:
    """Some records of a partition. Here `?2` is now, and the sorts follow."""
    places = ", ".join(["?"] * sorts)
    return f"""
SELECT sort, value, version, expires_at FROM record
WHERE partition = ?1 AND (expires_at IS NULL OR expires_at > ?2) AND sort IN ({places})
"""  # noqa: S608 - only question marks are put in


GET_VERSION: Final = """
SELECT version FROM record
WHERE partition = ?1 AND sort = ?2 AND (expires_at IS NULL OR expires_at > ?3)
"""

PUT: Final = """
INSERT INTO record (partition, sort, value, version, expires_at) VALUES (?1, ?2, ?4, ?5, ?6)
ON CONFLICT (partition, sort) DO UPDATE SET value = ?4, version = ?5, expires_at = ?6
"""

PUT_ABSENT: Final = """
INSERT INTO record (partition, sort, value, version, expires_at) VALUES (?1, ?2, ?4, ?5, ?6)
ON CONFLICT (partition, sort) DO UPDATE SET value = ?4, version = ?5, expires_at = ?6
WHERE record.expires_at <= ?3
"""

PUT_VERSION: Final = """
UPDATE record SET value = ?4, version = ?5, expires_at = ?6
WHERE partition = ?1 AND sort = ?2 AND version = ?7 AND (expires_at IS NULL OR expires_at > ?3)
"""

DELETE: Final = "DELETE FROM record WHERE partition = ?1 AND sort = ?2"

DELETE_VERSION: Final = """
DELETE FROM record
WHERE partition = ?1 AND sort = ?2 AND version = ?4 AND (expires_at IS NULL OR expires_at > ?3)
"""

SCAN: Final = """
SELECT sort, value, version, expires_at FROM record
WHERE partition = ?1 AND sort >= ?2 AND sort < ?4 AND (expires_at IS NULL OR expires_at > ?3)
ORDER BY sort LIMIT ?5
"""

SCAN_REVERSE: Final = """
SELECT sort, value, version, expires_at FROM record
WHERE partition = ?1 AND sort >= ?2 AND sort < ?4 AND (expires_at IS NULL OR expires_at > ?3)
ORDER BY sort DESC LIMIT ?5
"""

DUMP: Final = """
SELECT partition, sort, value, version, expires_at FROM record
WHERE (partition, sort) > (?1, ?2) AND (expires_at IS NULL OR expires_at > ?3)
ORDER BY partition, sort LIMIT ?4
"""

SWEEP: Final = """
DELETE FROM record WHERE (partition, sort) IN
(SELECT partition, sort FROM record WHERE expires_at <= ?1 LIMIT ?2)
"""
