"""Names of kubeflow.org/v1 that files, SDKs and other controllers rely on."""

from __future__ import annotations

from typing import Final

GROUP: Final = "kubeflow.org"
"""The API group of the older kinds."""
API_VERSION: Final = f"{GROUP}/v1"
"""The one version that is served."""

OUR_MANAGER: Final = "kubeflow.org/training-operator"
"""With this in runPolicy.managedBy, or with nothing, a job is ours."""
OUR_STAMP: Final = "kfp-trainer/operator"
"""What our admission puts there, so that a Training Operator beside us leaves the job alone."""
MANAGERS: Final = (OUR_MANAGER, "kueue.x-k8s.io/multikueue")
"""Everything that may stand in runPolicy.managedBy."""

OPERATOR_LABEL: Final = "training.kubeflow.org/operator-name"
"""On pods and Services: the controller of their kind."""
JOB_LABEL: Final = "training.kubeflow.org/job-name"
"""On pods and Services: their job; SDK and Katib find pods by it."""
ROLE_LABEL: Final = "training.kubeflow.org/replica-type"
"""On pods and Services: their role in lower case."""
INDEX_LABEL: Final = "training.kubeflow.org/replica-index"
"""On pods and Services: their number within the role."""
JOB_ROLE_LABEL: Final = "training.kubeflow.org/job-role"
"""On the pod that speaks for the job."""
MASTER: Final = "master"
"""The one value of `JOB_ROLE_LABEL`."""

KUBECTL_DELIVERY: Final = "kubectl-delivery"
"""The init container that brings kubectl to an MPI launcher."""
KUBECTL_VOLUME: Final = "mpi-job-kubectl"
"""Where it brings it."""

RESTART_POLICIES: Final = ("Always", "ExitCode", "Never", "OnFailure")
"""What a role may do when a pod ends."""
CLEAN_POLICIES: Final = ("All", "None", "Running")
"""Which pods go when the job ends."""
