"""Servers' jars from Maven Central, kept in build/servers between runs."""

import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

BUILD: Final = Path(__file__).parents[3] / "build" / "servers"
FETCH_SECONDS: Final = 900

_POM: Final = """\
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>floecat</groupId>
  <artifactId>{name}</artifactId>
  <version>1</version>
  <packaging>pom</packaging>
  <dependencies>{dependencies}
  </dependencies>
</project>
"""
_COPY: Final = ("mvn", "-q", "-B", "-U", "dependency:copy-dependencies", "-DincludeScope=runtime")


class ServerUnavailableError(Exception):
    """A server that can't be had here; says why, in one line."""


@dataclass(frozen=True, slots=True)
class Artifact:
    """A jar as Maven names it: group:artifact:version, and a classifier where it has one."""

    coordinates: str
    without: Sequence[str] = ()
    """Groups of what it depends on that aren't fetched."""

    def dependency(self) -> str:
        names = ("groupId", "artifactId", "version", "classifier")
        tags = dict(zip(names, self.coordinates.split(":"), strict=False))
        inner = "".join(f"<{tag}>{text}</{tag}>" for tag, text in tags.items())
        excluded = "".join(
            f"<exclusion><groupId>{group}</groupId><artifactId>*</artifactId></exclusion>"
            for group in self.without
        )
        return f"\n    <dependency>{inner}<exclusions>{excluded}</exclusions></dependency>"


def fetch(name: str, artifacts: Sequence[Artifact]) -> Path:
    """The folder with the artifacts and all they depend on, fetched anew when they change."""
    folder = BUILD / name
    pom = _POM.format(name=name, dependencies="".join(a.dependency() for a in artifacts))
    stamp = folder / "fetched"
    if stamp.exists() and stamp.read_text() == pom:
        return folder / "lib"
    require_programs("mvn")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "pom.xml").write_text(pom)
    _copy(folder)
    stamp.write_text(pom)
    return folder / "lib"


def _copy(folder: Path) -> None:
    command = [*_COPY, "-DoutputDirectory=lib"]
    try:
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, check=False, timeout=FETCH_SECONDS
        )
    except subprocess.TimeoutExpired as error:
        raise ServerUnavailableError(f"mvn didn't finish within {FETCH_SECONDS} s") from error
    if done.returncode != 0:
        raise ServerUnavailableError(f"mvn: {_reason(done.stdout + done.stderr)}")


def require_programs(*programs: str) -> None:
    missing = [program for program in programs if shutil.which(program) is None]
    if missing:
        raise ServerUnavailableError(f"needs {' and '.join(missing)}, not installed")


def _reason(output: str) -> str:
    """What mvn says is wrong, without its colours and hints."""
    plain = re.sub(r"\x1b\[[0-9;]*m", "", output)
    errors = [line for line in plain.splitlines() if line.startswith("[ERROR]")]
    said = (errors or plain.splitlines() or ["it failed"])[0].removeprefix("[ERROR] ")
    cause = said.rpartition("Could not ")
    return "".join(cause[1:]).partition(" -> [Help")[0].strip()
