"""What JobSet v0.12 refuses, said before it is asked.

A JobSet is compared with the rules of JobSet's schema and webhook, in its own words, and with some of ours
for JobSets that it admits and that can then never run well. Who calls this passes the JobSet as it would be
applied; what JobSet's webhook fills in is filled in here first, because its rules see the result.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..api.paths import INVALID, REQUIRED, TOO_LONG, TOO_MANY
from ..errors import FieldError
from . import jobset_policies, jobset_unfit, jobset_update
from .dns import TOO_LONG_LABEL, domain_path_faults, label_faults, subdomain_faults

Object = Mapping[str, Any]
Rule = Iterator[FieldError]

MAX_INT32 = 2**31 - 1
MANAGED_BY_LENGTH = 63
SUFFIX = "-abcde"
"""as long as what a Job appends to the name of a pod"""

_LONG_GROUP = ".spec.replicatedJob[].groupName is too long, must be less than 63 characters"
_LONG_JOB = "JobSet name is too long, job names generated for this JobSet will exceed 63 characters"
_LONG_POD = "JobSet name is too long, pod names generated for this JobSet will exceed 63 characters"
_LONG_SUBDOMAIN = ".spec.network.subdomain is too long, must be less than 63 characters"


def check_jobset(jobset: Object, *, old: Object | None = None) -> tuple[FieldError, ...]:
    """Find everything for which JobSet would refuse this JobSet, or this change of `old`."""
    spec = jobset.get("spec") or {}
    if old is not None:
        return tuple(_of(jobset, [*_schema(spec), *jobset_update.check(old.get("spec") or {}, spec)]))
    found = list(_schema(spec)) or [*_create(jobset["metadata"]["name"], with_defaults(spec))]
    return tuple(_of(jobset, [*found, *jobset_unfit.check(jobset)]))


def with_defaults(spec: Object) -> dict[str, Any]:
    """Fill in what the schema and the webhook of JobSet fill in, as far as rules look at it."""
    network = spec.get("network") or {}
    return {
        **spec,
        "successPolicy": spec.get("successPolicy") or {"operator": "All"},
        "startupPolicy": spec.get("startupPolicy") or {"startupPolicyOrder": "AnyOrder"},
        "network": {"enableDNSHostnames": True, "publishNotReadyAddresses": True, **network},
        "replicatedJobs": [
            {"replicas": 1, "groupName": "default", **job} for job in spec.get("replicatedJobs") or []
        ],
    }


def _of(jobset: Object, errors: Sequence[FieldError]) -> Rule:
    name = f"JobSet/{jobset['metadata']['name']}"
    for error in errors:
        yield FieldError(error.field, error.detail, error.type, name)


def _schema(spec: Object) -> Rule:
    """Check what a merge of patches can break; the rest of the schema is that of the runtime."""
    jobs = spec.get("replicatedJobs") or []
    for index, job in enumerate(jobs):
        if not _pod_spec(job).get("containers"):
            path = f"spec.replicatedJobs[{index}].template.spec.template.spec.containers"
            yield FieldError(path, "", REQUIRED)
        if len(job.get("dependsOn") or ()) > 5:
            path = f"spec.replicatedJobs[{index}].dependsOn"
            yield FieldError(path, "must have at most 5 items", TOO_MANY)
    order = (spec.get("startupPolicy") or {}).get("startupPolicyOrder")
    if order == "InOrder" and any(job.get("dependsOn") for job in jobs):
        yield FieldError("spec", "StartupPolicy and DependsOn APIs are mutually exclusive")


def _create(name: str, spec: Object) -> Rule:
    jobs = spec["replicatedJobs"]
    names = {job["name"] for job in jobs}
    if jobs and jobs[0].get("dependsOn"):
        yield internal("DependsOn can't be set for the first ReplicatedJob")
    yield from _subdomain(spec["network"].get("subdomain") or "")
    yield from _managed_by(spec.get("managedBy"))
    yield from _jobs(name, jobs)
    yield from jobset_policies.check_success(spec["successPolicy"], names)
    yield from jobset_policies.check_failure(spec.get("failurePolicy") or {}, names)
    yield from jobset_policies.check_coordinator(name, spec)
    yield from jobset_policies.check_claims(name, spec)


def internal(detail: str) -> FieldError:
    """Name a fault that JobSet reports without a field."""
    return FieldError("", detail, "InternalError")


def _subdomain(subdomain: str) -> Rule:
    if not subdomain:
        return
    for fault in subdomain_faults(subdomain):
        yield FieldError("spec.network.subdomain", fault)
    for fault in label_faults(subdomain):
        yield FieldError("spec.network.subdomain", _LONG_SUBDOMAIN if fault == TOO_LONG_LABEL else fault)


def _managed_by(manager: str | None) -> Rule:
    if manager is None:
        return
    for fault in domain_path_faults(manager):
        yield FieldError("spec.managedBy", fault, INVALID if fault else REQUIRED)
    if len(manager) > MANAGED_BY_LENGTH:
        yield FieldError("spec.managedBy", f"may not be more than {MANAGED_BY_LENGTH} bytes", TOO_LONG)


def _jobs(name: str, jobs: Sequence[Object]) -> Rule:
    seen: set[str] = set()
    for index, job in enumerate(jobs):
        seen.add(job["name"])
        path = f"spec.replicatedJobs[{index}]"
        if (job["template"]["spec"].get("parallelism") or 1) * job["replicas"] > MAX_INT32:
            yield internal(
                f"the product of replicas and parallelism must not exceed {MAX_INT32} "
                f"for replicatedJob '{job['name']}'"
            )
        for fault in label_faults(job["groupName"]):
            yield FieldError(f"{path}.groupName", _LONG_GROUP if fault == TOO_LONG_LABEL else fault)
        yield from _generated_names(name, job, path)
        for needed in job.get("dependsOn") or ():
            if needed["name"] not in seen:
                yield internal(
                    f"replicatedJob: {job['name']} cannot depend on replicatedJob: {needed['name']}"
                )


def _generated_names(name: str, job: Object, path: str) -> Rule:
    longest_job, longest_pod = longest_names(name, job)
    for fault in label_faults(longest_job):
        yield FieldError(f"{path}.name", _LONG_JOB if fault == TOO_LONG_LABEL else fault)
    for fault in label_faults(longest_pod) if longest_pod else ():
        yield FieldError(f"{path}.name", _LONG_POD if fault == TOO_LONG_LABEL else fault)


def longest_names(name: str, job: Object) -> tuple[str, str]:
    """Make the longest Job name and pod name of a replicated job; no pod name when pods have no index."""
    spec = job["template"]["spec"]
    longest = f"{name}-{job['name']}-{(job.get('replicas', 1)) - 1}"
    completions = spec.get("completions")
    if completions is None or spec.get("completionMode", "Indexed") != "Indexed":
        return longest, ""
    return longest, f"{longest}-{completions - 1}{SUFFIX}"


def _pod_spec(job: Object) -> Object:
    template = ((job.get("template") or {}).get("spec") or {}).get("template") or {}
    return template.get("spec") or {}
