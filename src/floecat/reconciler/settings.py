"""Defaults of automatic reconciliation, per account: kept in the store, changed under a version."""

from datetime import timedelta
from typing import Final

from ai.floedb.floecat.common.common_pb2 import MutationMeta
from ai.floedb.floecat.reconciler.reconciler_pb2 import (
    METADATA_AND_CAPTURE,
    GetReconcilerSettingsResponse,
    ReconcilerSettings,
    UpdateReconcilerSettingsRequest,
    UpdateReconcilerSettingsResponse,
)
from floecat.catalog.callers import Caller
from floecat.catalog.capture_policies import check_capture_policy
from floecat.catalog.codec import Stored
from floecat.catalog.masks import updated_spec
from floecat.catalog.mutations import Change, Mutations, check_precondition
from floecat.catalog.records import CatalogStores, first_meta, next_meta
from floecat.errors import InvalidArgumentError
from floecat.reconciler import keys
from floecat.reconciler.spans import span_of
from floecat.storage.kv.port import ABSENT, Put

MIN_INTERVAL: Final = timedelta(seconds=10)
MIN_RETENTION: Final = timedelta(minutes=1)


def default_settings() -> ReconcilerSettings:
    """What holds until somebody says otherwise."""
    settings = ReconcilerSettings(auto_enabled=False, mode=METADATA_AND_CAPTURE, max_parallel=4)
    settings.interval.FromTimedelta(timedelta(minutes=15))
    settings.finished_retention.FromTimedelta(timedelta(hours=24))
    return settings


class ReconcilerSettingsRepository:
    """An account's settings."""

    def __init__(self, stores: CatalogStores) -> None:
        self._stores = stores
        self._mutations = Mutations(stores)

    def get(self, account: str) -> GetReconcilerSettingsResponse:
        """The settings in effect; version 0 means that nobody has changed them."""
        stored = self._find(account)
        if stored is None:
            return GetReconcilerSettingsResponse(settings=default_settings(), meta=MutationMeta())
        return GetReconcilerSettingsResponse(settings=stored.message, meta=stored.meta)

    def update(
        self, caller: Caller, request: UpdateReconcilerSettingsRequest
    ) -> UpdateReconcilerSettingsResponse:
        """Change what the mask names."""
        account = caller.account_id

        def change() -> Change[UpdateReconcilerSettingsResponse]:
            stored = self._find(account)
            meta = stored.meta if stored else MutationMeta()
            check_precondition(request.precondition, meta)
            current = stored.message if stored else default_settings()
            settings = updated_spec(current, request.settings, request.update_mask, ())
            check_settings(settings)
            now = self._stores.now()
            meta = next_meta(meta, settings, now) if stored else first_meta(settings, now)
            value = self._stores.codec.encode(account, settings, meta)
            put = Put(keys.settings(account), value, stored.version if stored else ABSENT)
            response = UpdateReconcilerSettingsResponse(settings=settings, meta=meta)
            return Change((put,), response)

        return self._mutations.run(caller, request, UpdateReconcilerSettingsResponse, change)

    def _find(self, account: str) -> Stored[ReconcilerSettings] | None:
        record = self._stores.kv.get(keys.settings(account))
        return self._stores.codec.decode(record, ReconcilerSettings) if record else None


def check_settings(settings: ReconcilerSettings) -> None:
    """Refuse what can't work."""
    interval = span_of(settings.interval, "settings.interval")
    if settings.HasField("interval") and interval < MIN_INTERVAL:
        raise InvalidArgumentError(
            f"the interval is {interval.total_seconds():g} s: at least "
            f"{MIN_INTERVAL.total_seconds():g} s",
            field="settings.interval",
        )
    if settings.HasField("max_parallel") and settings.max_parallel < 1:
        raise InvalidArgumentError(
            "max_parallel must be at least 1; auto_enabled=false turns automatic runs off",
            field="settings.max_parallel",
        )
    retention = span_of(settings.finished_retention, "settings.finished_retention")
    if settings.HasField("finished_retention") and retention < MIN_RETENTION:
        raise InvalidArgumentError(
            "finished runs are kept for at least a minute", field="settings.finished_retention"
        )
    check_capture_policy(settings.capture_policy, "settings.capture_policy")
