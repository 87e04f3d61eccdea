"""The data pipeline, wired from its settings: on Spark, inside the worker, or not at all.

Its packages are large, and take a second to import: only who uses them has to have them.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from floecat.errors import InvalidSettingsError
from floecat.settings.model import BlobBackend, CaptureEngine, Settings
from floecat.storage.blobs.port import BlobStore
from floecat.storage.configured import blob_config
from floecat.storage.extras import extra
from floecat.worker.captures import FileGroupCapture, NativeFileGroupCapture

if TYPE_CHECKING:
    from floecat.capture.runners import CaptureRunner


@contextmanager
def open_capture(
    settings: Settings, blobs: BlobStore, lost: Callable[[], None]
) -> Iterator[FileGroupCapture]:
    """What learns of files, given back at the end; `lost` is called if only a new process helps."""
    if settings.capture.engine is CaptureEngine.NATIVE:
        yield NativeFileGroupCapture()
        return
    with extra("capture"):
        from floecat.worker.segments import SegmentFileGroupCapture  # noqa: PLC0415 - optional
    runner = _runner(settings, blobs, lost)
    try:
        config = blob_config(settings.blobs, settings.data_dir.resolve())
        yield SegmentFileGroupCapture(runner, blobs, config)
    finally:
        runner.close()


def _runner(settings: Settings, blobs: BlobStore, lost: Callable[[], None]) -> "CaptureRunner":
    if settings.capture.engine is CaptureEngine.SPARK:
        return _on_spark(settings, blobs, lost)
    from floecat.capture.runners import InlineCaptureRunner  # noqa: PLC0415 - optional

    return InlineCaptureRunner()


def _on_spark(settings: Settings, blobs: BlobStore, lost: Callable[[], None]) -> "CaptureRunner":
    with extra("capture"):
        from floecat.capture.spark.runner import SparkCaptureRunner  # noqa: PLC0415 - optional
        from floecat.capture.spark.sessions import SparkOptions, SparkSessions  # noqa: PLC0415
    spark = settings.capture.spark
    options = SparkOptions(
        folder=settings.data_dir.resolve() / "spark",
        master=spark.master,
        remote=spark.remote,
        driver_memory=spark.driver_memory,
        task_memory=settings.capture.task_memory,
        conf=dict(_pair(text) for text in spark.conf),
    )
    folder = settings.blobs.backend is BlobBackend.FILESYSTEM
    if folder and not options.is_local and not settings.blobs.shared:
        raise InvalidSettingsError(
            "Spark's tasks elsewhere can't write to a folder of this machine: use blobs=s3, or set "
            "blobs.shared=true if the folder is mounted at the same path everywhere"
        )
    return SparkCaptureRunner(SparkSessions(options), blobs, lost)


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise InvalidSettingsError(f"spark.conf: {text!r} isn't name=value")
    return name.strip(), value.strip()
