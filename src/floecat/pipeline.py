"""The data pipeline, wired from its settings: on Spark, inside the worker, or not at all."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import assert_never

from floecat.capture.runners import CaptureRunner, InlineCaptureRunner
from floecat.errors import InvalidSettingsError
from floecat.settings.model import BlobBackend, CaptureEngine, Settings
from floecat.storage.blobs.port import BlobStore
from floecat.storage.configured import blob_config
from floecat.worker.captures import FileGroupCapture, NativeFileGroupCapture
from floecat.worker.segments import SegmentFileGroupCapture


@contextmanager
def open_capture(settings: Settings, blobs: BlobStore) -> Iterator[FileGroupCapture]:
    """What learns of files, given back at the end."""
    if settings.capture.engine is CaptureEngine.NATIVE:
        yield NativeFileGroupCapture()
        return
    runner = _runner(settings, blobs)
    try:
        config = blob_config(settings.blobs, settings.data_dir.resolve())
        yield SegmentFileGroupCapture(runner, blobs, config)
    finally:
        runner.close()


def _runner(settings: Settings, blobs: BlobStore) -> CaptureRunner:
    match settings.capture.engine:
        case CaptureEngine.INLINE:
            return InlineCaptureRunner()
        case CaptureEngine.SPARK | CaptureEngine.NATIVE:
            return _on_spark(settings, blobs)
        case engine:
            assert_never(engine)


def _on_spark(settings: Settings, blobs: BlobStore) -> CaptureRunner:
    # Spark's packages take a second to import, which only who uses them should wait for.
    from floecat.capture.spark.runner import SparkCaptureRunner  # noqa: PLC0415
    from floecat.capture.spark.sessions import SparkOptions, SparkSessions  # noqa: PLC0415

    spark = settings.capture.spark
    options = SparkOptions(
        folder=settings.data_dir.resolve() / "spark",
        master=spark.master,
        remote=spark.remote,
        driver_memory=spark.driver_memory,
        conf=dict(_pair(text) for text in spark.conf),
    )
    folder = settings.blobs.backend is BlobBackend.FILESYSTEM
    if folder and not options.is_local and not settings.blobs.shared:
        raise InvalidSettingsError(
            "Spark's tasks elsewhere can't write to a folder of this machine: use blobs=s3, or set "
            "blobs.shared=true if the folder is mounted at the same path everywhere"
        )
    return SparkCaptureRunner(SparkSessions(options), blobs)


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise InvalidSettingsError(f"spark.conf: {text!r} isn't name=value")
    return name.strip(), value.strip()
