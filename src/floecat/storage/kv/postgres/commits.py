"""Carrying a plan out in one transaction, and finding out what became of it if nobody says.

Row locks alone let two commits that each check the other's absent key both pass; advisory locks on
the keys' hashes don't, since there is something to lock where no row is.
"""

from dataclasses import dataclass
from datetime import timedelta
from enum import Enum
from typing import Any, TypeAlias

import psycopg
from psycopg import errors as pg
from psycopg_pool import ConnectionPool

from floecat.clock import Clock
from floecat.errors import UnavailableError
from floecat.storage.kv.backoff import attempts
from floecat.storage.kv.postgres import statements as sql
from floecat.storage.kv.postgres.errors import is_lost
from floecat.storage.kv.postgres.plan import CommitPlan
from floecat.storage.kv.versions import to_micros

Connection: TypeAlias = psycopg.Connection[tuple[Any, ...]]
Pool: TypeAlias = ConnectionPool[Connection]


class _Outcome(Enum):
    COMMITTED = "committed"
    ABORTED = "aborted"


@dataclass(frozen=True, slots=True)
class _Lost:
    """The connection went after COMMIT may have been sent."""

    transaction: str


class Committer:
    """Runs plans on a pool's connections."""

    def __init__(self, pool: Pool, clock: Clock, patience: timedelta) -> None:
        self._pool = pool
        self._clock = clock
        self._patience = patience

    def run(self, plan: CommitPlan) -> None:
        """Commit the plan, or raise and have changed nothing."""
        failure: psycopg.Error | None = None
        for _ in attempts(self._patience):
            try:
                outcome = self._attempt(plan)
            except (pg.SerializationFailure, pg.DeadlockDetected) as error:
                failure = error
                continue
            if isinstance(outcome, _Lost):
                outcome = self._settle(outcome.transaction)
            if outcome is _Outcome.COMMITTED:
                return
        raise UnavailableError("PostgreSQL kept aborting the commit") from failure

    def _attempt(self, plan: CommitPlan) -> _Outcome | _Lost:
        with self._pool.connection() as connection:
            transaction: str | None = None
            try:
                transaction = self._prepare(connection, plan)
                _finish(connection, plan)
            except psycopg.Error as error:
                if not is_lost(error, connection):
                    raise
                self._pool.check()  # when one is gone, so probably are the others
                # Without a transaction id COMMIT wasn't sent, or had nothing to commit.
                return _Outcome.ABORTED if transaction is None else _Lost(transaction)
            return _Outcome.COMMITTED

    def _prepare(self, connection: Connection, plan: CommitPlan) -> str | None:
        """Lock, compare, and name the transaction if it is going to write."""
        ids, shared = zip(*plan.locks, strict=True)
        with connection.pipeline():
            connection.execute("BEGIN ISOLATION LEVEL READ COMMITTED")
            connection.execute(sql.LOCK, (list(ids), list(shared)))
        now = to_micros(self._clock())  # not before the locks: waiting for them takes time
        transaction: str | None = None
        with connection.pipeline():
            digests = [digest for (digest, _), _ in plan.expected]
            sorts = [sort for (_, sort), _ in plan.expected]
            found = connection.execute(sql.READ_VERSIONS, (digests, sorts, now))
            named = connection.execute(sql.TRANSACTION_ID) if plan.writes else None
            plan.check(dict(found.fetchall()))
            if named is not None:
                ((transaction,),) = named.fetchall()
        return transaction

    def _settle(self, transaction: str) -> _Outcome:
        """Ask the server what became of a transaction whose COMMIT wasn't answered."""
        for _ in attempts(self._patience):
            with self._pool.connection() as connection:
                try:
                    row = connection.execute(sql.TRANSACTION_STATUS, (transaction,)).fetchone()
                except psycopg.Error as error:
                    if not is_lost(error, connection):
                        raise
                    continue
            match row:
                case ("committed",):
                    return _Outcome.COMMITTED
                case ("aborted",):
                    return _Outcome.ABORTED
        raise UnavailableError(f"transaction {transaction} is still neither done nor undone")


def _finish(connection: Connection, plan: CommitPlan) -> None:
    """Write and commit in one round trip."""
    with connection.pipeline():
        if plan.rows:
            rows = plan.rows
            connection.execute(
                sql.PUT,
                (
                    [row.key[0] for row in rows],
                    [row.key[1] for row in rows],
                    [row.partition for row in rows],
                    [row.value for row in rows],
                    [row.version for row in rows],
                    [row.expires_at for row in rows],
                ),
            )
        if plan.deleted:
            connection.execute(
                sql.DELETE,
                ([digest for digest, _ in plan.deleted], [sort for _, sort in plan.deleted]),
            )
        connection.execute("COMMIT")
