"""What Kueue says of a job that waits in one of its queues.

Kueue keeps a Workload beside each job that it manages, and tells there what it waits for: quota, an admission
check, a queue that is not there or is stopped. Of a Workload only this sentence is kept. It is served in two
versions, of which the newer is read.
"""

from __future__ import annotations

from ..conditions import find, is_true
from ..render.framework import Watch
from ..render.plan import Object

WORKLOADS = tuple(Watch(f"kueue.x-k8s.io/{version}", "Workload") for version in ("v1beta2", "v1beta1"))
"""the newer first"""
RESERVED, ADMITTED = "QuotaReserved", "Admitted"
PASSED = "Ready"


def queued(workload: Object) -> str:
    """Read from a Workload why it is not admitted; empty where it is, or where nothing was said yet."""
    status = workload.get("status") or {}
    conditions = status.get("conditions") or ()
    if is_true(conditions, ADMITTED):
        return ""
    if is_true(conditions, RESERVED):
        return "; ".join(_unpassed(status))
    return str((find(conditions, RESERVED) or {}).get("message") or "").strip()


def _unpassed(status: Object) -> list[str]:
    """The admission checks that a Workload with quota still waits for."""
    found = []
    for each in status.get("admissionChecks") or ():
        if each.get("state") != PASSED:
            said = f": {each['message']}" if each.get("message") else ""
            found.append(
                f"admission check {each.get('name')} is {each.get('state', 'Pending').lower()}{said}"
            )
    return found
