"""The contract holds what the requirements name, by walking the generated descriptors."""

import importlib
from collections.abc import Iterator

import pytest
from google.protobuf import descriptor_pool
from google.protobuf.descriptor import (
    Descriptor,
    EnumDescriptor,
    FieldDescriptor,
    FileDescriptor,
    MethodDescriptor,
    ServiceDescriptor,
)
from google.protobuf.json_format import Parse
from tests.unit.contract.surface import (
    ENUM_VALUES,
    FIELDS,
    FILES,
    OPTIONAL,
    PACKAGE,
    SERVICES,
)

from ai.floedb.floecat.catalog import table_pb2
from ai.floedb.floecat.query import lifecycle_pb2

POOL = descriptor_pool.Default()
FOLDER = PACKAGE.replace(".", "/")


@pytest.fixture(scope="module", autouse=True)
def files() -> list[FileDescriptor]:
    for name in FILES:
        importlib.import_module(f"{FOLDER}/{name}_pb2".replace("/", "."))
    return [POOL.FindFileByName(f"{FOLDER}/{name}.proto") for name in FILES]


def services(files: list[FileDescriptor]) -> dict[str, ServiceDescriptor]:
    declared = [service for file in files for service in file.services_by_name.values()]
    return {service.full_name.removeprefix(f"{PACKAGE}."): service for service in declared}


def messages(files: list[FileDescriptor]) -> Iterator[Descriptor]:
    pending = [message for file in files for message in file.message_types_by_name.values()]
    while pending:
        message = pending.pop()
        pending.extend(message.nested_types)
        yield message


def enums(files: list[FileDescriptor]) -> list[EnumDescriptor]:
    return [enum for file in files for enum in file.enum_types_by_name.values()]


def described(method: MethodDescriptor) -> str:
    return f"{'>' * method.client_streaming}{'<' * method.server_streaming}{method.name}"


def test_the_services_are_exactly_these(files: list[FileDescriptor]) -> None:
    assert set(services(files)) == set(SERVICES)


@pytest.mark.parametrize("name", SERVICES)
def test_a_service_has_exactly_these_methods(files: list[FileDescriptor], name: str) -> None:
    declared = [described(method) for method in services(files)[name].methods]
    assert sorted(declared) == sorted(SERVICES[name].split())


@pytest.mark.parametrize("name", FIELDS)
def test_a_named_message_has_its_fields(name: str) -> None:
    message = POOL.FindMessageTypeByName(f"{PACKAGE}.{name}")
    assert set(FIELDS[name].split()) - set(message.fields_by_name) == set()


@pytest.mark.parametrize("name", ENUM_VALUES)
def test_a_named_enum_has_its_values(name: str) -> None:
    enum = POOL.FindEnumTypeByName(f"{PACKAGE}.{name}")
    assert set(ENUM_VALUES[name].split()) - set(enum.values_by_name) == set()


@pytest.mark.parametrize("name", OPTIONAL)
def test_what_may_be_unknown_is_optional(name: str) -> None:
    message = POOL.FindMessageTypeByName(f"{PACKAGE}.{name}")
    for field in OPTIONAL[name].split():
        assert message.fields_by_name[field].has_presence, field


def test_every_enum_starts_unspecified(files: list[FileDescriptor]) -> None:
    wrong = [
        e.full_name for e in enums(files) if not e.values_by_number[0].name.endswith("_UNSPECIFIED")
    ]
    assert wrong == []


def test_properties_are_number_99_everywhere(files: list[FileDescriptor]) -> None:
    # The auth configuration's properties are a named part of the requirement, not an experiment.
    exempt = {f"{PACKAGE}.connector.AuthConfig"}
    found = [
        m for m in messages(files) if "properties" in m.fields_by_name and m.full_name not in exempt
    ]
    assert found
    assert [m.full_name for m in found if m.fields_by_name["properties"].number != 99] == []


def test_only_empty_requests_and_markers_have_no_fields(files: list[FileDescriptor]) -> None:
    empty = {m.full_name.removeprefix(f"{PACKAGE}.") for m in messages(files) if not m.fields}
    assert empty == {"statistics.TableStatsTarget", "reconciler.GetReconcilerSettingsRequest"}


def test_every_mutation_takes_an_idempotency_key(files: list[FileDescriptor]) -> None:
    prefixes = (
        "Create",
        "Update",
        "Delete",
        "Put",
        "Merge",
        "Append",
        "Add",
        "StartCapture",
        "CaptureNow",
    )
    mutations = [
        method
        for service in services(files).values()
        for method in service.methods
        if method.name.startswith(prefixes)
    ]
    assert mutations
    without = [m.full_name for m in mutations if "idempotency" not in m.input_type.fields_by_name]
    assert without == []


def test_every_update_and_delete_takes_a_precondition(files: list[FileDescriptor]) -> None:
    changes = [
        method
        for service in services(files).values()
        for method in service.methods
        if method.name.startswith(("Update", "Delete"))
    ]
    assert changes
    assert [m.full_name for m in changes if "precondition" not in m.input_type.fields_by_name] == []


def test_every_listing_is_paged(files: list[FileDescriptor]) -> None:
    listings = [
        method
        for service in services(files).values()
        for method in service.methods
        if method.name.startswith("List")
    ]
    assert listings
    for method in listings:
        assert "page" in method.input_type.fields_by_name, method.full_name
        assert "page" in method.output_type.fields_by_name, method.full_name


def test_no_package_depends_on_one_that_depends_on_it(files: list[FileDescriptor]) -> None:
    edges = {
        (file.package, dependency.package)
        for file in files
        for dependency in file.dependencies
        if dependency.package != file.package
    }
    assert {(a, b) for a, b in edges if (b, a) in edges} == set()


def test_the_create_table_example_parses() -> None:
    request = Parse(
        """{
        "spec": {
          "catalog_id": {"account_id":"T","id":"C","kind":"RK_CATALOG"},
          "namespace_id": {"account_id":"T","id":"N","kind":"RK_NAMESPACE"},
          "display_name": "events",
          "schema_json": "{...Iceberg schema...}",
          "upstream": {
            "connector_id": {"account_id":"T","id":"conn","kind":"RK_CONNECTOR"},
            "uri": "s3://warehouse",
            "namespace_path": ["prod"],
            "table_display_name": "events"
          }
        },
        "idempotency": {"key": "create-events"}
        }""",
        table_pb2.CreateTableRequest(),
    )
    assert request.spec.upstream.namespace_path == ["prod"]
    assert request.idempotency.key == "create-events"


def test_the_begin_query_example_parses() -> None:
    request = Parse(
        """{
        "inputs": [
          {"name": {"catalog":"demo","path":["sales"],"name":"events"}}
        ]
        }""",
        lifecycle_pb2.BeginQueryRequest(),
    )
    assert request.inputs[0].name.path == ["sales"]


def test_absent_precision_differs_from_zero() -> None:
    field = POOL.FindMessageTypeByName(f"{PACKAGE}.types.LogicalType").fields_by_name[
        "temporal_precision"
    ]
    assert field.has_presence
    assert field.type == FieldDescriptor.TYPE_INT32
