"""Edits of properties: nothing of anybody else's is lost."""

from collections.abc import Mapping
from typing import Any

import pytest

from ai.floedb.floecat.common.common_pb2 import MutationMeta, Precondition
from floecat.cli.writes import Guard, edit
from floecat.errors import FailedPreconditionError, InvalidArgumentError


class Resource:
    """Properties with a version; somebody else changes them `rivals` times before a write."""

    def __init__(self, rivals: int = 0) -> None:
        self.properties = {"a": "1", "b": "2"}
        self.version = 1
        self._rivals = rivals

    def read(self) -> tuple[Mapping[str, str], MutationMeta]:
        return dict(self.properties), MutationMeta(version=self.version)

    def send(self, fields: Mapping[str, Any], expected: Precondition) -> int:
        if self._rivals:
            self._rivals -= 1
            self.version += 1
            self.properties[f"rival{self._rivals}"] = "x"
        if expected.HasField("expected_version") and expected.expected_version != self.version:
            raise FailedPreconditionError("changed", reason="PRECONDITION_FAILED")
        self.version += 1
        self.properties = dict(fields["properties"])
        return self.version


def test_a_rivals_change_is_kept() -> None:
    resource = Resource(rivals=2)
    edit(Guard(), ["c=3"], ["a"]).apply(resource.read, resource.send)
    assert resource.properties == {"b": "2", "c": "3", "rival0": "x", "rival1": "x"}


def test_what_the_user_expects_is_not_tried_again() -> None:
    resource = Resource(rivals=1)
    with pytest.raises(FailedPreconditionError):
        edit(Guard(version=1), ["c=3"], None).apply(resource.read, resource.send)
    assert "c" not in resource.properties


def test_an_endless_race_ends() -> None:
    resource = Resource(rivals=100)
    with pytest.raises(FailedPreconditionError):
        edit(Guard(), ["c=3"], None).apply(resource.read, resource.send)


def test_an_edit_without_changes_is_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="nothing to change"):
        edit(Guard(), None, None, description=None)


def test_an_empty_description_is_a_change() -> None:
    assert edit(Guard(), None, None, description="").fields == {"description": ""}
