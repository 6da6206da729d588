"""What tasks of our pipelines are given: the volume of their run, and credentials.

Weights never go through the artifact store: tasks hand each other paths on the run's workspace. Kubeflow
Pipelines deletes it when the run has succeeded, so what must last is exported. Credentials are a Secret of
the namespace, mounted by reference; it need not exist.
"""

from __future__ import annotations

from typing import Any

from kfp import dsl, kubernetes

SIZE = "50Gi"
CREDENTIALS = "/var/run/kfp-trainer/credentials"


def workspace(size: str = SIZE, **claim: Any) -> dsl.PipelineConfig:
    """A workspace that pods of several nodes can write to; `claim` overrides fields of the claim's spec."""
    patch = {"accessModes": ["ReadWriteMany"], **claim}
    kubernetes_config = dsl.KubernetesWorkspaceConfig(pvcSpecPatch=patch)
    return dsl.PipelineConfig(workspace=dsl.WorkspaceConfig(size=size, kubernetes=kubernetes_config))


def in_workspace(path: str) -> str:
    """A folder on the workspace."""
    return f"{dsl.WORKSPACE_PATH_PLACEHOLDER}/{path}"


def with_credentials(task: Any, secret: Any) -> Any:
    """Let a task read a Secret, whose keys are names of environment variables."""
    return kubernetes.use_secret_as_volume(task, secret_name=secret, mount_path=CREDENTIALS, optional=True)
