"""TableIndexService over the index artifacts."""

from collections.abc import Iterator

from ai.floedb.floecat.catalog.index_pb2 import (
    GetIndexArtifactRequest,
    GetIndexArtifactResponse,
    ListIndexArtifactsRequest,
    ListIndexArtifactsResponse,
    PutIndexArtifactsRequest,
    PutIndexArtifactsResponse,
    ReadIndexArtifactRequest,
    ReadIndexArtifactResponse,
)
from floecat.service.calls import Call
from floecat.statistics.reading import TableIndex


class TableIndexHandlers:
    """One method per RPC."""

    def __init__(self, index: TableIndex) -> None:
        self._index = index

    def GetIndexArtifact(
        self, request: GetIndexArtifactRequest, call: Call
    ) -> GetIndexArtifactResponse:
        return GetIndexArtifactResponse(record=self._index.get(call.caller, request))

    def ListIndexArtifacts(
        self, request: ListIndexArtifactsRequest, call: Call
    ) -> ListIndexArtifactsResponse:
        return self._index.list(call.caller, request)

    def PutIndexArtifacts(
        self, requests: Iterator[PutIndexArtifactsRequest], call: Call
    ) -> PutIndexArtifactsResponse:
        return self._index.uploads.write(call.caller, requests)

    def ReadIndexArtifact(
        self, request: ReadIndexArtifactRequest, call: Call
    ) -> Iterator[ReadIndexArtifactResponse]:
        record = self._index.get(call.caller, request)
        pieces = self._index.read(record)
        yield ReadIndexArtifactResponse(record=record)
        for data in pieces:
            yield ReadIndexArtifactResponse(data=data)
