"""The script by which an MPI launcher of v1 starts programs on its workers: v1's, and how it finds a pod.

Hosts are called as v1's pods were, and the pods of Jobs end in random letters. So the script looks the pod of
a host up by its labels. It waits until that pod runs and the launcher's Role names it, since the launcher
starts with its workers and may be there first.
"""

from __future__ import annotations

from ...api.legacy import LegacyJob
from ...api.legacy.names import INDEX_LABEL, JOB_LABEL, ROLE_LABEL

KUBECTL = "/opt/kube/kubectl"
PATIENCE_SECONDS = 1800
"""for images to be pulled and nodes to be added"""
PAUSE_SECONDS = 2

LOOK_UP = """\
case ${{POD_NAME#{prefix}}} in
*[!0-9]* | '') ;; # no host of this job's
*)
  set +x
  HOST=$POD_NAME
  INDEX=${{HOST##*-}}
  LEFT={tries}
  until
    POD_NAME=$({kubectl} get pods --output=name --sort-by=.metadata.creationTimestamp \\
      --field-selector=status.phase=Running --selector="{selector}$INDEX" 2>/dev/null | tail -n 1)
    POD_NAME=${{POD_NAME#pod/}}
    [ -n "$POD_NAME" ] && {kubectl} auth can-i create "pods/$POD_NAME" --subresource=exec >/dev/null 2>&1
  do
    if [ $LEFT -eq 0 ]; then
      echo "$HOST: no pod of this worker has come to run within {seconds} s; see kubectl get pods" >&2
      exit 1
    fi
    LEFT=$((LEFT - 1))
    sleep {pause}
  done
  set -x
  ;;
esac
"""


def kubexec(job: LegacyJob, *, hosts_are_pods: bool = False) -> str:
    """The script; its arguments are a host and a command. Where a host names its pod nothing is looked up."""
    container = job.spec.get("mainContainer")
    option = f" --container {container}" if container else ""
    return (
        "#!/bin/sh\nset -x\nPOD_NAME=$1\nshift\n"
        f'{"" if hosts_are_pods else look_up(job)}{KUBECTL} exec ${{POD_NAME}}{option} -- /bin/sh -c "$*"'
    )


def look_up(job: LegacyJob) -> str:
    """The part that turns the name of a host into that of its pod."""
    return LOOK_UP.format(
        prefix=f"{job.name}-worker-",
        kubectl=KUBECTL,
        selector=f"{JOB_LABEL}={job.name},{ROLE_LABEL}=worker,{INDEX_LABEL}=",
        tries=PATIENCE_SECONDS // PAUSE_SECONDS,
        pause=PAUSE_SECONDS,
        seconds=PATIENCE_SECONDS,
    )
