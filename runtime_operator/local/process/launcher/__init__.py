"""The process that stands beside a container: its parent, its witness and its scribe.

It is started once a container and outlives whoever started it, so that a runner that dies loses neither the
container nor its exit code. It runs with an isolated interpreter that sees the standard library and this
folder only: nothing here may import anything outside it, and nothing that takes long to import.

    launcher   holds the lock, copies the logs, writes the record
    └── first  process 1 of the container: reaps orphans, ends what is left behind
        └── the command of the container
"""
