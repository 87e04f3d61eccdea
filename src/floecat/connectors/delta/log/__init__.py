"""The delta log: which files it has, what they say, and the state of a version that follows."""
