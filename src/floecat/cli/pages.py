"""Listings: every page of them, or as much as was asked for."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Generic, TypeAlias, TypeVar

from ai.floedb.floecat.common.common_pb2 import PageRequest, PageResponse

Item = TypeVar("Item")

PAGE_SIZE: Final = 1000

FetchPage: TypeAlias = Callable[[PageRequest], tuple[Sequence[Item], PageResponse]]
"""Asks for one page: its items, and where the next one starts."""


@dataclass(frozen=True, slots=True)
class Fetched(Generic[Item]):
    """What was listed, and whether there is more."""

    items: list[Item]
    more: bool = False


def fetch_all(fetch: FetchPage[Item], limit: int | None = None) -> Fetched[Item]:
    """Every item, or the first `limit` of them."""
    items: list[Item] = []
    token = ""
    while True:
        left = PAGE_SIZE if limit is None else min(PAGE_SIZE, limit - len(items))
        page, response = fetch(PageRequest(page_size=left, page_token=token))
        items += page
        token = response.next_page_token
        if not token or len(items) == limit:
            return Fetched(items, bool(token))
