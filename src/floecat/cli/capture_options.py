"""What is said of a capture on the command line, as the policy of a run."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Final, TypeAlias

import typer

from ai.floedb.floecat.execution import capture_pb2
from ai.floedb.floecat.execution.capture_pb2 import CapturePolicy, SamplingPolicy
from ai.floedb.floecat.reconciler import reconciler_pb2
from floecat.cli.connector_options import known_mode
from floecat.errors import InvalidArgumentError

_OUTPUTS: Final = {
    "table-stats": (capture_pb2.CAO_TABLE_STATS,),
    "file-stats": (capture_pb2.CAO_FILE_STATS,),
    "column-stats": (capture_pb2.CAO_COLUMN_STATS,),
    "index": (capture_pb2.CAO_PAGE_INDEX,),
    "stats": (
        capture_pb2.CAO_TABLE_STATS,
        capture_pb2.CAO_FILE_STATS,
        capture_pb2.CAO_COLUMN_STATS,
    ),
}
_SEEDS: Final = range(2**64)

Capture: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--capture",
        metavar="WHAT[,WHAT]",
        help="What to capture: stats, index; or table-stats, file-stats, column-stats.",
    ),
]
Columns: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--column", metavar="NAME|#ID", help="Capture this column. Repeatable."),
]
FirstN: TypeAlias = Annotated[
    int | None,
    typer.Option(
        "--first-n",
        min=1,
        metavar="N",
        help="Capture the first N columns of each table, nested ones counted singly.",
    ),
]
Sample: TypeAlias = Annotated[
    float | None,
    typer.Option(
        "--sample",
        metavar="FRACTION",
        help="Read this share of the row groups of each file, like 0.1.",
    ),
]
SampleSeed: TypeAlias = Annotated[
    int | None,
    typer.Option(
        "--sample-seed",
        metavar="N",
        help="Which sample; the same number means the same row groups.",
    ),
]
AllowFailedFiles: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--allow-failed-files",
        help="Capture snapshots without the files that can't be read; those count as unknown.",
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class CaptureOptions:
    """What was said; None means nothing."""

    capture: str | None = None
    columns: Sequence[str] | None = None
    first_n: int | None = None
    sample: float | None = None
    sample_seed: int | None = None
    allow_failed_files: bool = False

    def policy(self) -> CapturePolicy | None:
        """What is captured; None if nothing was said."""
        self._check()
        if not list(self._given()):
            return None
        policy = CapturePolicy(
            outputs=dict.fromkeys(self._outputs()), allow_failed_files=self.allow_failed_files
        )
        for selector in self.columns or ():
            policy.columns.add(selector=selector, ndv=True, quantiles=True, frequent_items=True)
            policy.default_scope = capture_pb2.DCS_EXPLICIT
        if self.first_n is not None:
            policy.default_scope, policy.first_n = capture_pb2.DCS_FIRST_N, self.first_n
        if self.sample is not None:
            seed = self.sample_seed or 0
            policy.sampling.CopyFrom(SamplingPolicy(row_group_fraction=self.sample, seed=seed))
        return policy

    def require_fitting(self, mode: str | None) -> None:
        """Refuse to say what is captured of a run that captures nothing."""
        given = " and ".join(self._given())
        if given and mode and known_mode(mode) == reconciler_pb2.METADATA_ONLY:
            raise InvalidArgumentError(
                f"--mode {mode} captures nothing: leave it out, or leave out {given}"
            )

    def _given(self) -> Iterator[str]:
        """The options that were given."""
        said = {
            "--capture": self.capture,
            "--column": self.columns or None,
            "--first-n": self.first_n,
            "--sample": self.sample,
            "--sample-seed": self.sample_seed,
            "--allow-failed-files": self.allow_failed_files or None,
        }
        return (option for option, value in said.items() if value is not None)

    def _check(self) -> None:
        if self.columns and self.first_n is not None:
            raise InvalidArgumentError("give one of --column and --first-n")
        if self.sample is not None and not 0 < self.sample <= 1:
            raise InvalidArgumentError(
                f"--sample {self.sample:g}: it is a share of the row groups, above 0 and at most 1"
            )
        if self.sample_seed is not None and self.sample is None:
            raise InvalidArgumentError("--sample-seed says which sample: give --sample too")
        if self.sample_seed is not None and self.sample_seed not in _SEEDS:
            raise InvalidArgumentError("--sample-seed is a number from 0 to 2⁶⁴ - 1")

    def _outputs(self) -> Iterator[capture_pb2.CaptureOutput.ValueType]:
        for word in self.capture.split(",") if self.capture else ():
            if word not in _OUTPUTS:
                known = ", ".join(sorted(_OUTPUTS))
                raise InvalidArgumentError(f"--capture {word}: there is {known}")
            yield from _OUTPUTS[word]
