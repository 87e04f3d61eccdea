"""The SQL. Keys are bytes: text can't hold NUL, and bytes need no collation to sort by bytes.

The partition is indexed by its digest, because an index entry holds at most 2,704 bytes and the
longest keys have 3,072.
"""

from typing import Final

SETUP: Final = """
SELECT pg_advisory_xact_lock(5064653254838017);  -- two services may start at once
CREATE TABLE IF NOT EXISTS floecat_record (
    partition_digest bytea  NOT NULL,
    sort             bytea  NOT NULL,
    partition        bytea  NOT NULL,
    value            bytea  NOT NULL,
    version          bigint NOT NULL,
    expires_at       bigint,  -- microseconds since 1970; NULL: never
    PRIMARY KEY (partition_digest, sort)
);
CREATE INDEX IF NOT EXISTS floecat_record_expiry
    ON floecat_record (expires_at) WHERE expires_at IS NOT NULL;
"""

CONFIGURE: Final = """
SELECT set_config('idle_in_transaction_session_timeout', %(idle)s, false),
       set_config('lock_timeout', %(lock)s, false)
"""

LOCK: Final = """
SELECT CASE WHEN shared THEN pg_advisory_xact_lock_shared(id) ELSE pg_advisory_xact_lock(id) END
FROM unnest(%s::bigint[], %s::boolean[]) AS lock (id, shared)
"""

READ_VERSIONS: Final = """
SELECT k.position, r.version
FROM unnest(%b::bytea[], %b::bytea[]) WITH ORDINALITY AS k (partition_digest, sort, position)
JOIN floecat_record r USING (partition_digest, sort)
WHERE r.expires_at IS NULL OR r.expires_at > %s
"""

TRANSACTION_ID: Final = "SELECT pg_current_xact_id()::text"

TRANSACTION_STATUS: Final = "SELECT pg_xact_status(%s::xid8)"

PUT: Final = """
INSERT INTO floecat_record (partition_digest, sort, partition, value, version, expires_at)
SELECT * FROM unnest(
    %b::bytea[], %b::bytea[], %b::bytea[], %b::bytea[], %s::bigint[], %s::bigint[])
ON CONFLICT (partition_digest, sort) DO UPDATE
SET value = excluded.value, version = excluded.version, expires_at = excluded.expires_at
"""

DELETE: Final = """
DELETE FROM floecat_record r USING unnest(%b::bytea[], %b::bytea[]) AS k (partition_digest, sort)
WHERE r.partition_digest = k.partition_digest AND r.sort = k.sort
"""

GET: Final = """
SELECT partition, sort, value, version, expires_at FROM floecat_record
WHERE partition_digest = %b AND sort = %b AND (expires_at IS NULL OR expires_at > %s)
"""

GET_MANY: Final = """
SELECT k.position, r.partition, r.sort, r.value, r.version, r.expires_at
FROM unnest(%b::bytea[], %b::bytea[]) WITH ORDINALITY AS k (partition_digest, sort, position)
JOIN floecat_record r USING (partition_digest, sort)
WHERE r.expires_at IS NULL OR r.expires_at > %s
"""

SCAN: Final = """
SELECT partition, sort, value, version, expires_at FROM floecat_record
WHERE partition_digest = %b AND sort >= %b AND sort < %b
  AND (expires_at IS NULL OR expires_at > %s)
ORDER BY sort LIMIT %s
"""

SCAN_REVERSE: Final = """
SELECT partition, sort, value, version, expires_at FROM floecat_record
WHERE partition_digest = %b AND sort >= %b AND sort < %b
  AND (expires_at IS NULL OR expires_at > %s)
ORDER BY sort DESC LIMIT %s
"""

DUMP: Final = """
SELECT partition, sort, value, version, expires_at FROM floecat_record
WHERE (partition_digest, sort) > (%b, %b) AND (expires_at IS NULL OR expires_at > %s)
ORDER BY partition_digest, sort LIMIT %s
"""

SWEEP: Final = """
DELETE FROM floecat_record WHERE (partition_digest, sort) IN (
    SELECT partition_digest, sort FROM floecat_record
    WHERE expires_at <= %s LIMIT %s FOR UPDATE SKIP LOCKED)
"""

SERVER_TIME: Final = "SELECT clock_timestamp()"
