"""From credentials as they were given to credentials that need no further exchange."""
