"""Who calls, where a test isn't about that."""

from floecat.service.permissions import ADMINISTRATOR
from floecat.service.principals import Headers, Principal


class Anyone:
    """Lets everybody do everything."""

    def authenticate(self, headers: Headers) -> Principal:
        """The same administrator, whatever the headers say."""
        return Principal("a", "tester", frozenset([ADMINISTRATOR]))
