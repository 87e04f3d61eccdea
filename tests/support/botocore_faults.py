"""Losing requests and answers inside a botocore client, by its own event hooks."""

from typing import Any

from botocore.awsrequest import AWSResponse
from botocore.exceptions import ConnectionClosedError, ReadTimeoutError
from botocore.httpsession import URLLib3Session
from tests.support.faults import Meanwhile, nothing

_THROTTLED = (
    b'{"__type":"com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException",'
    b'"message":"slow down"}'
)


class BotocoreFaults:
    def __init__(self, client: Any) -> None:
        self.client = client
        self.lost = 0
        self.throttled = 0
        self._to_throttle = 0
        self._meanwhile: Meanwhile = nothing
        self._lose_request = self._lose_reply = False
        self._plain = URLLib3Session()
        client.meta.events.register("before-send.dynamodb", self._throttle)
        client.meta.events.register("before-send.dynamodb.TransactWriteItems", self._lose)

    def lose_next_request(self, meanwhile: Meanwhile = nothing) -> None:
        self._lose_request, self._meanwhile = True, meanwhile

    def lose_next_reply(self, meanwhile: Meanwhile = nothing) -> None:
        self._lose_reply, self._meanwhile = True, meanwhile

    def throttle(self, calls: int) -> None:
        self._to_throttle = calls

    def _lose(self, request: Any, **_: Any) -> None:
        if self._lose_request:
            self._lose_request = False
            self.lost += 1
            self._meanwhile()
            raise ConnectionClosedError(endpoint_url=request.url)
        if self._lose_reply:
            self._lose_reply = False
            self.lost += 1
            assert self._plain.send(request).status_code == 200
            self._meanwhile()
            raise ReadTimeoutError(endpoint_url=request.url)

    def _throttle(self, request: Any, **_: Any) -> AWSResponse | None:
        if self._to_throttle == 0:
            return None
        self._to_throttle -= 1
        self.throttled += 1
        return AWSResponse(request.url, 400, {"x-amzn-RequestId": "0"}, _Raw())


class _Raw:
    def stream(self, **_: Any) -> list[bytes]:
        return [_THROTTLED]
