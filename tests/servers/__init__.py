"""Real servers on loopback for the tests of fetching: each starts in a `with` block and ends with it."""
