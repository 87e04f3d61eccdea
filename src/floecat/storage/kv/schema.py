"""What a store remembers about itself: who shaped it, and which life it is in.

It is an ordinary record, so every backend has it. Whatever later versions change, this record stays
where it is, as JSON with at least `version` and `made_by`: an older Floecat must be able to read
why it can't go on.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Final, TypeAlias

from floecat.errors import ConflictError, DataLossError, IncompatibleStoreError
from floecat.storage.kv.port import ABSENT, Expectation, Key, KeyValueStore, Put

SCHEMA_VERSION: Final = 1
SCHEMA_KEY: Final = Key("floecat/store", "schema")


@dataclass(frozen=True, slots=True)
class StoreSchema:
    """`incarnation` rises whenever a store is restored, so that leases from before are void."""

    version: int
    made_by: str
    incarnation: int = 1


MigrationStep: TypeAlias = Callable[[KeyValueStore], None]
"""Brings a store from one version to the next.

It may be killed anywhere and is then run again from its start, perhaps by two processes at once: it
must take a store that is partly done, and commit with expectations.
"""


@dataclass(frozen=True, slots=True)
class Migrations:
    """The steps this Floecat knows: `steps[0]` leads from version 1 to 2, and so on."""

    made_by: str
    steps: Sequence[MigrationStep] = ()

    @property
    def newest(self) -> int:
        """The version that all steps lead to."""
        return SCHEMA_VERSION + len(self.steps)


def open_schema(store: KeyValueStore, migrations: Migrations) -> StoreSchema:
    """Make a new store ours, bring an old one up to date, refuse one from the future."""
    while True:
        schema, expect = _read(store)
        if schema is None:
            _write(store, StoreSchema(migrations.newest, migrations.made_by), expect)
        elif schema.version > migrations.newest:
            raise IncompatibleStoreError(
                f"this store has schema version {schema.version}, made by {schema.made_by}; "
                f"{migrations.made_by} understands up to version {migrations.newest}. "
                f"Run {schema.made_by} or newer, or restore a backup made before the upgrade"
            )
        elif schema.version < migrations.newest:
            migrations.steps[schema.version - SCHEMA_VERSION](store)
            raised = replace(schema, version=schema.version + 1, made_by=migrations.made_by)
            _write(store, raised, expect)
        else:
            return schema


def incarnation_of(store: KeyValueStore) -> int:
    """How often a store that was opened has been restored."""
    schema, _ = _read(store)
    return schema.incarnation if schema else 1


def raise_incarnation(store: KeyValueStore) -> int:
    """Begin a new life of the store; its number."""
    while True:
        schema, expect = _read(store)
        if schema is None:
            raise IncompatibleStoreError("this store was never opened by Floecat")
        raised = replace(schema, incarnation=schema.incarnation + 1)
        if _write(store, raised, expect):
            return raised.incarnation


def _read(store: KeyValueStore) -> tuple[StoreSchema | None, Expectation]:
    record = store.get(SCHEMA_KEY)
    if record is None:
        return None, ABSENT
    try:
        fields = json.loads(record.value)
        version, incarnation = fields["version"], fields.get("incarnation", 1)
        schema = StoreSchema(_number(version), str(fields["made_by"]), _number(incarnation))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise DataLossError(f"the store's schema record is damaged: {record.value!r}") from error
    return schema, record.version


def _number(value: object) -> int:
    if type(value) is not int or value < 1:
        raise ValueError(f"{value!r} counts nothing")
    return value


def _write(store: KeyValueStore, schema: StoreSchema, expect: Expectation) -> bool:
    """Write, unless another process was quicker; the caller reads again either way."""
    try:
        store.commit([Put(SCHEMA_KEY, json.dumps(asdict(schema)).encode(), expect)])
    except ConflictError:
        return False
    return True
