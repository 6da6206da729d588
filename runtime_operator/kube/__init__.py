"""The only place that talks HTTP to an API server: transport, cache, queue, election, events."""
