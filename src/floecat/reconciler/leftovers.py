"""What the reconciler keeps for accounts and connectors, removed with them."""

from typing import Final

from ai.floedb.floecat.common import common_pb2
from floecat.catalog.kinds import Kind
from floecat.reconciler import keys
from floecat.reconciler.states import TERMINAL
from floecat.reconciler.store.port import ReconcileJobStore
from floecat.storage.kv.port import ANY, Delete, KeyValueStore

_PAGE: Final = 200


class ReconcilerSweep:
    """Goes along with the catalog's sweep. Jobs that have ended go when their time is over."""

    def __init__(self, kv: KeyValueStore, jobs: ReconcileJobStore) -> None:
        self._kv = kv
        self._jobs = jobs

    def sweep(self, account: str, kind: Kind, identifier: str) -> bool:
        """A connector's schedule; an account's settings, and whatever still runs for it."""
        if kind == common_pb2.RK_CONNECTOR:
            # Its runs find out themselves that it is gone, and end with that reason.
            self._kv.commit([Delete(keys.schedule(account, identifier), ANY)])
        elif kind == common_pb2.RK_ACCOUNT:
            self._cancel_runs(identifier)
            self._kv.commit([Delete(keys.settings(identifier), ANY)])
        return True

    def _cancel_runs(self, account: str) -> None:
        """Nobody can look at them any more, and maybe no worker ever would."""
        after = None
        while page := self._jobs.reading.roots(account, "", after, _PAGE):
            for row in page:
                if row.job.state not in TERMINAL:
                    self._jobs.cancel(account, row.job.job_id, "its account was deleted")
            after = page[-1].cursor
