"""Create, adopt, follow and cancel a job: one protocol, with a back end behind it."""
