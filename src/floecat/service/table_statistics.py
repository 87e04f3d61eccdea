"""TableStatisticsService over the statistics store."""

from collections.abc import Iterator

from ai.floedb.floecat.catalog.stats_pb2 import (
    GetTargetStatsRequest,
    GetTargetStatsResponse,
    ListTargetStatsRequest,
    ListTargetStatsResponse,
    PutTargetStatsRequest,
    PutTargetStatsResponse,
)
from floecat.service.calls import Call
from floecat.statistics.reading import TableStatistics


class TableStatisticsHandlers:
    """One method per RPC."""

    def __init__(self, statistics: TableStatistics) -> None:
        self._statistics = statistics

    def GetTargetStats(self, request: GetTargetStatsRequest, call: Call) -> GetTargetStatsResponse:
        return GetTargetStatsResponse(record=self._statistics.get(call.caller, request))

    def ListTargetStats(
        self, request: ListTargetStatsRequest, call: Call
    ) -> ListTargetStatsResponse:
        return self._statistics.list(call.caller, request)

    def PutTargetStats(
        self, requests: Iterator[PutTargetStatsRequest], call: Call
    ) -> PutTargetStatsResponse:
        return self._statistics.uploads.write(call.caller, requests)
