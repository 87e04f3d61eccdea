"""Statistics as they are shown: at eighty and at a hundred and sixty columns, and never obeyed."""

import pytest
from rich.console import Console

from ai.floedb.floecat.catalog.index_pb2 import (
    IAS_FAILED,
    IndexArtifactCoverage,
    IndexArtifactRecord,
)
from ai.floedb.floecat.catalog.stats_pb2 import (
    NM_EXACT,
    NM_THETA,
    FileIdentity,
    FileTargetStats,
    FrequentItem,
    Ndv,
    NdvApprox,
    Quantiles,
    ScalarStats,
    StatsCoverage,
    StatsMetadata,
    TableValueStats,
    TargetStatsRecord,
)
from ai.floedb.floecat.statistics.statistics_pb2 import ColumnStatsTarget, StatsTarget
from floecat.cli import output, stats_index, stats_shown, stats_texts
from floecat.cli.pages import Fetched
from floecat.cli.quantile_texts import quantile_text
from floecat.types.kinds import Kind
from floecat.types.logical import INT, LogicalType
from floecat.types.messages import to_message

EVIL = "\x1b]0;owned\x07\x1b[2J \u202etxt"

PRICE = ScalarStats(
    display_name="price",
    logical_type=to_message(INT),
    value_count=1_000_000,
    null_count=125_000,
    min="-5",
    max="99999",
    min_tight=True,
    max_tight=False,
    ndv=Ndv(
        approx=NdvApprox(estimate=48_211, lower_bound=47_500, upper_bound=48_900), method=NM_THETA
    ),
    quantiles=Quantiles(
        ranks=[0, 0.25, 0.5, 0.75, 1], values=[-5, 10, 20, 30, 99999], rank_error=0.01
    ),
    frequent_items=[
        FrequentItem(
            value="19", count_estimate=100_000, count_lower_bound=99_000, count_upper_bound=101_000
        ),
        FrequentItem(count_estimate=10, count_lower_bound=10, count_upper_bound=10),
    ],
)
NAME = ScalarStats(
    display_name=EVIL,
    value_count=1_000_000,
    null_count=0,
    min="",
    max="z" * 100,
    min_tight=True,
    max_tight=True,
    ndv=Ndv(exact=3, method=NM_EXACT),
)


def record(number: int, scalar: ScalarStats) -> TargetStatsRecord:
    made = TargetStatsRecord(
        target=StatsTarget(column=ColumnStatsTarget(column_id=number)),
        snapshot_id=42,
        scalar=scalar,
        metadata=StatsMetadata(generation=2),
    )
    made.metadata.captured_at.GetCurrentTime()
    return made


@pytest.fixture(params=[80, 160])
def width(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    chars: int = request.param
    console = Console(width=chars, force_terminal=True, color_system=None, highlight=False)
    monkeypatch.setattr(output, "_console", lambda: console)
    return chars


def test_columns_fit_the_terminal(width: int, capsys: pytest.CaptureFixture[str]) -> None:
    found = Fetched([record(1, PRICE), record(2, NAME)])
    stats_shown.print_columns(found)
    drawn = capsys.readouterr()
    lines = drawn.out.splitlines()
    assert max(map(len, lines)) <= width
    assert "price" in drawn.out
    assert "█░░░░░ 12.5%" in drawn.out
    assert "-5 … ≤99999" in drawn.out
    assert ("DISTRIBUTION" in drawn.out) == (width > 80)
    assert ("MOST FREQUENT" in drawn.out) == (width > 80)
    assert ("19 ~10.0%" in drawn.out) == (width > 80)
    assert "\x1b]0" not in drawn.out
    assert "from snapshot 42, generation 2" in drawn.err
    left_out = "no room for DISTRIBUTION, MOST FREQUENT: a wider terminal"
    assert (left_out in drawn.err) == (width == 80)


@pytest.mark.parametrize("width", [30, 44, 60, 80], indirect=True)
def test_numbers_stay_whole_on_a_narrow_terminal(
    width: int, capsys: pytest.CaptureFixture[str]
) -> None:
    sentinels = ScalarStats(
        display_name="a_name_that_is_longer_than_others",
        logical_type=to_message(INT),
        value_count=10,
        null_count=3,
        min="-9223372036854775808",
        max="9223372036854775807",
        min_tight=True,
        max_tight=True,
        ndv=Ndv(
            approx=NdvApprox(estimate=123_456, lower_bound=111_111, upper_bound=133_333),
        ),
    )
    stats_shown.print_columns(Fetched([record(1, sentinels)]))
    drawn = capsys.readouterr()
    assert max(map(len, drawn.out.splitlines())) <= width
    for title, numbers in {
        "DISTINCT": ("~123k", "(111k–133k)"),
        "MIN … MAX": (sentinels.min, sentinels.max),
    }.items():
        if title in drawn.err:
            assert title not in drawn.out
        else:
            assert all(number in drawn.out.split() for number in numbers)
    assert ("MIN … MAX" in drawn.err) == (width < 80)


def test_one_column_is_told_whole(width: int, capsys: pytest.CaptureFixture[str]) -> None:
    output.print_fields(stats_shown.column_fields(record(1, PRICE)))
    drawn = capsys.readouterr().out
    assert max(map(len, drawn.splitlines())) <= width
    assert "~48,211 (47,500–48,900)" in drawn
    assert "theta" in drawn
    assert "19 ~10.0%" in drawn
    assert "NULL <0.1%" in drawn
    assert "quantiles" in drawn


def test_a_table_says_what_is_exact_and_what_was_seen() -> None:
    made = TargetStatsRecord(
        table=TableValueStats(
            row_count=1000,
            live_row_count=990,
            live_row_count_exact=False,
            data_file_count=3,
            data_size_bytes=5 * 1024**2,
            delete_file_count=1,
            delete_size_bytes=10,
        ),
        snapshot_id=7,
        metadata=StatsMetadata(
            coverage=StatsCoverage(files_failed=1, files_total=3, rows_seen=700, rows_total=1000)
        ),
    )
    fields = stats_shown.table_fields(made)
    assert fields["rows"] == "990 (an estimate: not every delete can be counted)"
    assert fields["size"] == "5.0 MiB"
    assert fields["delete files"] == "1 (10 B)"
    assert fields["seen"] == "1 of 3 files couldn't be read; 700 of 1,000 rows"
    assert fields["captured"] == "at some time from snapshot 7"


@pytest.mark.parametrize(
    ("coverage", "text"),
    [
        (StatsCoverage(), ""),
        (StatsCoverage(files_total=0), "no files: there are none"),
        (StatsCoverage(files_total=1), "the only file"),
        (StatsCoverage(files_total=1200), "all 1,200 files"),
        (StatsCoverage(files_total=1, files_failed=1), "the only file couldn't be read"),
        (StatsCoverage(files_total=3, files_failed=1), "1 of 3 files couldn't be read"),
        (StatsCoverage(files_total=3, files_failed=3), "none of 3 files could be read"),
        (StatsCoverage(files_failed=1), "1 file couldn't be read"),
        (StatsCoverage(files_total=1, rows_seen=0, rows_total=1), "0 of 1 row"),
        (StatsCoverage(files_total=1, rows_seen=5, rows_total=5), "the only file"),
    ],
)
def test_what_was_seen_is_told_as_people_would(coverage: StatsCoverage, text: str) -> None:
    assert stats_texts.coverage_text(StatsMetadata(coverage=coverage)) == text


@pytest.mark.parametrize(
    ("ndv", "text"),
    [
        (Ndv(method=NM_THETA), "theta"),
        (Ndv(method=NM_THETA, rows_seen=9, rows_total=9), "theta"),
        (Ndv(method=NM_THETA, rows_seen=1), "theta, 1 row seen"),
        (Ndv(method=NM_THETA, rows_seen=1, rows_total=2000), "theta, 1 of 2,000 rows seen"),
    ],
)
def test_how_distinct_values_were_found_is_told_so_too(ndv: Ndv, text: str) -> None:
    assert stats_texts.ndv_method(ndv) == text


def test_frequent_values_are_whole_where_there_is_room() -> None:
    moment = "2024-01-01T01:02:03.456789Z"
    items = [FrequentItem(value=moment, count_estimate=1)]
    stats = ScalarStats(frequent_items=items, value_count=1)
    assert stats_texts.top_lines(stats) == [f"{moment} 100%"]
    assert stats_texts.top_text(stats) == f"{moment[:23]}… 100%"


def test_characters_that_replace_others_are_told_of() -> None:
    items = [FrequentItem(value=text, count_estimate=1) for text in ("a", "b\ufffd")]
    *lines, note = stats_texts.top_lines(ScalarStats(frequent_items=items, value_count=2))
    assert lines == ["a 50.0%", "b\ufffd 50.0%"]
    assert note == "(\ufffd is that character, or bytes that aren't UTF-8)"


@pytest.mark.parametrize(
    ("kind", "value", "text"),
    [
        (Kind.DATE, 19723.0, "2024-01-01"),
        (Kind.DATE, -1.0, "1969-12-31"),
        (Kind.DATE, 1e300, "1e+300"),
        (Kind.TIME, 3_723_000_004.0, "01:02:03.000004"),
        (Kind.TIME, -1.0, "-1"),
        (Kind.TIMESTAMP, 1_704_070_923_456_789.0, "2024-01-01T01:02:03.456789"),
        (Kind.TIMESTAMPTZ, 1_704_070_923_000_000.0, "2024-01-01T01:02:03Z"),
        (Kind.TIMESTAMP, float("nan"), "nan"),
        (Kind.TIMESTAMP, float("inf"), "inf"),
        (Kind.INT, 1_234_567.0, "1,234,567"),
        (Kind.INT, 1e18, "1e+18"),
        (Kind.DECIMAL, 903.5, "903.5"),
        (Kind.DOUBLE, 0.25, "0.25"),
    ],
)
def test_quantiles_are_written_as_the_columns_values_are(
    kind: Kind, value: float, text: str
) -> None:
    stats = ScalarStats(logical_type=to_message(LogicalType(kind)))
    assert quantile_text(stats, value) == text


def test_decimals_are_shown_with_the_scale_of_their_column() -> None:
    price = to_message(LogicalType(Kind.DECIMAL, precision=15, scale=2))
    stats = ScalarStats(
        logical_type=price,
        min="-903",
        max="95949.5",
        min_tight=True,
        max_tight=False,
        frequent_items=[FrequentItem(value="0.1", count_estimate=1)],
        value_count=1,
    )
    assert stats_texts.range_text(stats) == "-903.00 … ≤95949.50"
    assert stats_texts.top_text(stats) == "0.10 100%"
    assert quantile_text(stats, 17.5) == "17.50"
    assert quantile_text(stats, 1e18) == "1e+18"
    assert stats_texts.value_text(stats, "0.125") == "0.125"
    assert stats_texts.value_text(stats, "anything") == "anything"
    assert stats_texts.value_text(ScalarStats(logical_type=to_message(INT)), "7") == "7"
    price.scale = 2_000_000_000
    assert stats_texts.value_text(ScalarStats(logical_type=price), "7") == "7"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (TableValueStats(), ""),
        (TableValueStats(row_count=5), ""),
        (TableValueStats(row_count=5, live_row_count=5), ""),
        (
            TableValueStats(row_count=3100, live_row_count=2495, live_row_count_exact=True),
            "of 3,100 rows in files, 605 are deleted: what is said of columns includes them",
        ),
        (
            TableValueStats(row_count=3100, live_row_count=3099),
            "of 3,100 rows in files, about 1 is deleted: what is said of columns includes them",
        ),
    ],
)
def test_deleted_rows_are_told_of(value: TableValueStats, text: str) -> None:
    assert stats_texts.deletes_text(value) == text


def test_a_failure_is_one_line_and_says_the_path_once() -> None:
    path = "s3://lake/a.parquet"
    file = FileTargetStats(
        identity=FileIdentity(file_path=path), failure=f"{path}: it starts with \x0f\nPAR"
    )
    assert stats_texts.file_state(file) == "unreadable: it starts with \x0f PAR"
    assert stats_texts.file_state(FileTargetStats()) == ""


def test_an_index_is_told_a_line_for_each_thing(capsys: pytest.CaptureFixture[str]) -> None:
    made = IndexArtifactRecord(
        target_file=FileIdentity(file_path="f", size_bytes=2048),
        state=IAS_FAILED,
        failure="f: bytes\nstate  ready",
        artifact_format="parquet-page-bounds",
        artifact_format_version=1,
        coverage=IndexArtifactCoverage(
            row_count=1000, row_group_count=2, row_groups_without_pages=1, column_ids=[1, 2]
        ),
    )
    output.print_fields(stats_index.index_fields(made))
    fields = dict(line.split("  ", 1) for line in capsys.readouterr().out.splitlines())
    shown = {name: value.strip() for name, value in fields.items()}
    assert shown["state"] == "failed"
    assert shown["failure"] == "bytes state ready"
    assert shown["without pages"] == "1 of these row groups"
    assert shown["columns"] == "#1, #2"
    assert shown["format"] == "parquet-page-bounds 1"


def test_quantiles_of_who_knows_what_are_numbers() -> None:
    assert quantile_text(ScalarStats(), 2.5) == "2.5"


@pytest.mark.parametrize(
    ("share", "text"),
    [(0.0, "0%"), (1.0, "100%"), (0.00001, "<0.1%"), (0.99999, ">99.9%"), (0.125, "12.5%")],
)
def test_shares_that_arent_nothing_or_all_never_look_so(share: float, text: str) -> None:
    assert stats_texts.share_text(share) == text
    filled = stats_texts.bar(share, 10).count("█")
    assert (filled == 0) == (share == 0)
    assert (filled == 10) == (share == 1)


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "0"),
        (950, "950"),
        (9_999, "9,999"),
        (12_345, "12.3k"),
        (4_560_000, "4.56M"),
        (7e9, "7G"),
    ],
)
def test_large_numbers_are_short(number: float, text: str) -> None:
    assert stats_texts.short_count(number) == text


@pytest.mark.parametrize(
    ("ndv", "text"),
    [
        (Ndv(), ""),
        (Ndv(exact=12), "12"),
        (Ndv(approx=NdvApprox(estimate=100)), "~100"),
        (Ndv(approx=NdvApprox(estimate=100, upper_bound_only=True)), "≤ 100"),
        (Ndv(approx=NdvApprox(estimate=100, lower_bound=90, upper_bound=110)), "~100 (90–110)"),
    ],
)
def test_distinct_values_say_how_sure_they_are(ndv: Ndv, text: str) -> None:
    assert stats_texts.ndv_text(ndv) == text


def test_values_that_cant_be_seen_are_quoted() -> None:
    assert stats_texts.quoted("") == "“”"
    assert stats_texts.quoted(" a") == "“ a”"
    assert stats_texts.quoted("a" * 100) == "a" * 23 + "…"
    assert stats_texts.quoted("a" * 100, None) == "a" * 100
