"""Says what to install when there is no Java for Spark, before minutes are spent to find out."""

import sys

from floecat.capture.spark.sessions import require_java
from floecat.errors import FailedPreconditionError


def main() -> int:
    try:
        require_java()
    except FailedPreconditionError as error:
        print(error.message, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
