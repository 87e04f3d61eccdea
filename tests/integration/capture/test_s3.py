"""Everything in S3: the tables, and what is learnt of them. Spark's tasks read and write it."""

from collections.abc import Iterator
from uuid import uuid4

import boto3
import numpy as np
import pyarrow as pa
import pytest
from deltalake import write_deltalake
from tests.support.lake import connected, working
from tests.support.moto import Moto
from tests.support.runs import ended_run
from tests.support.service import running_service

import floecat
from ai.floedb.floecat.catalog.directory_pb2 import ResolveTableRequest
from ai.floedb.floecat.catalog.index_pb2 import (
    ListIndexArtifactsRequest,
    ReadIndexArtifactRequest,
)
from ai.floedb.floecat.catalog.stats_pb2 import ListTargetStatsRequest, ScalarStats
from ai.floedb.floecat.common.common_pb2 import ResourceId
from ai.floedb.floecat.connector import connector_pb2 as connectors
from ai.floedb.floecat.reconciler import reconciler_pb2 as messages
from ai.floedb.floecat.statistics.statistics_pb2 import STK_COLUMN
from floecat.artifacts.sidecars import read_sidecar
from floecat.bootstrap import Floecat
from floecat.client.names import parse_relation

pytestmark = [pytest.mark.spark, pytest.mark.slow]

FILES = 4
ROWS = 5000


def rows(number: int) -> pa.Table:
    """A file's worth of rows that no other file has."""
    ids = np.arange(number * ROWS, (number + 1) * ROWS)
    return pa.table({"id": ids, "name": [f"name {n % 50}" for n in ids]})


@pytest.fixture(scope="module")
def bucket(moto: Moto, aws_environment: None) -> str:
    name = f"lake-{uuid4().hex}"
    client = boto3.client("s3", endpoint_url=moto.endpoint, region_name="us-east-1")
    client.create_bucket(Bucket=name)
    client.close()
    storage = {
        "aws_endpoint": moto.endpoint,
        "aws_region": "us-east-1",
        "aws_access_key_id": "testing",
        "aws_secret_access_key": "testing",
        "aws_allow_http": "true",
        "aws_conditional_put": "etag",
    }
    for number in range(FILES):
        location = f"s3://{name}/tables/orders"
        write_deltalake(location, rows(number), mode="append", storage_options=storage)
    return name


@pytest.fixture(scope="module")
def service(moto: Moto, bucket: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Floecat]:
    settings = {
        "blobs": "s3",
        "blobs_s3_bucket": bucket,
        "blobs_s3_prefix": "floecat",
        "blobs_s3_endpoint": moto.endpoint,
        "blobs_s3_region": "us-east-1",
    }
    folder = tmp_path_factory.mktemp("service")
    engine = {"capture_engine": "spark", "spark_master": "local[2]"}
    with (
        running_service(folder, reconciler_worker_mode="remote", **settings) as running,
        working(running, folder, **settings, **engine),
    ):
        yield running


@pytest.fixture(scope="module")
def clients(service: Floecat) -> Iterator[floecat.GrpcClients]:
    with connected(service) as opened:
        yield opened


@pytest.fixture(scope="module")
def table_id(clients: floecat.GrpcClients, moto: Moto, bucket: str) -> ResourceId:
    """The table, captured."""
    keys = connectors.AwsCredentials(access_key_id="testing", secret_access_key="testing")
    spec = connectors.ConnectorSpec(
        display_name="lake",
        kind_name="delta-filesystem",
        uri=f"s3://{bucket}/tables",
        properties={"s3.endpoint": moto.endpoint, "s3.region": "us-east-1", "namespace": "sales"},
        auth=connectors.AuthConfig(credentials=connectors.AuthCredentials(aws=keys)),
        destination=connectors.DestinationTarget(catalog_display_name="lake"),
    )
    request = connectors.CreateConnectorRequest(spec=spec)
    connector = clients.connectors.CreateConnector(request).connector
    start = messages.StartCaptureRequest(
        scope=messages.CaptureScope(connector_id=connector.resource_id),
        mode=messages.METADATA_AND_CAPTURE,
    )
    job = ended_run(clients, clients.reconcile.StartCapture(start).job_id)
    assert job.state == messages.RJS_SUCCEEDED, job
    assert not job.degraded, job
    name = parse_relation("lake.sales.orders")
    return clients.directory.ResolveTable(ResolveTableRequest(name=name)).resource_id


def test_columns_are_known(clients: floecat.GrpcClients, table_id: ResourceId) -> None:
    request = ListTargetStatsRequest(table_id=table_id, target_kinds=[STK_COLUMN])
    found: dict[str, ScalarStats] = {
        record.scalar.display_name: record.scalar
        for record in clients.statistics.ListTargetStats(request).records
    }
    assert (found["id"].min, found["id"].max) == ("0", str(FILES * ROWS - 1))
    assert found["id"].value_count == FILES * ROWS
    assert found["name"].ndv.exact == 50


def test_sidecars_are_read(clients: floecat.GrpcClients, table_id: ResourceId) -> None:
    request = ListIndexArtifactsRequest(table_id=table_id)
    artifacts = clients.indexes.ListIndexArtifacts(request).records
    assert len(artifacts) == FILES
    asked = ReadIndexArtifactRequest(
        table_id=table_id, file_path=artifacts[0].target_file.file_path
    )
    pieces = [answer.data for answer in clients.indexes.ReadIndexArtifact(asked)]
    assert set(read_sidecar(b"".join(pieces)).column("column_id").to_pylist()) == {1, 2}
