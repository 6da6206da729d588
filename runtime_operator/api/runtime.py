"""TrainingRuntime and ClusterTrainingRuntime: the blueprint a TrainJob starts from."""

from __future__ import annotations

from typing import Annotated

from .base import Dict, Kind, Part
from .rules import (
    ELASTIC_ORDER,
    FLUX_PROCESSES,
    MPI_PROCESSES,
    NODES_OR_ELASTIC,
    NOT_NODE,
    ONE_GANG,
    ONE_POLICY,
    TORCH_PROCESSES,
)
from .wire import ATOMIC, OPEN, keyed, wire


class EnvInjectionTarget(Part):
    """Containers of one job that get the torch env as well."""

    jobName: Annotated[str, wire("A job of the runtime.", minLength=1, maxLength=253)]
    containerNames: Annotated[
        list[str],
        wire(
            "Containers of it.",
            items={"maxLength": 63},
            minItems=1,
            maxItems=8,
            **{"x-kubernetes-list-type": "set"},
            rules=(NOT_NODE,),
        ),
    ]


class EnvInjection(Part):
    """Where the torch env goes beside the main container."""

    targets: Annotated[
        list[EnvInjectionTarget] | None, wire("The containers.", maxItems=16, **keyed("jobName"))
    ] = None


class ElasticPolicy(Part):
    """How many nodes torchrun may go on with, as Trainer 2.0 and 2.1 spelled it."""

    minNodes: Annotated[int | None, wire("Start with at least so many nodes.", minimum=1)] = None
    maxNodes: Annotated[int | None, wire("Take at most so many nodes.", minimum=1)] = None
    maxRestarts: Annotated[int | None, wire("Start anew so often.", minimum=0)] = None
    metrics: Annotated[
        list[Dict] | None,
        wire("Metrics of an autoscaler; read by nobody.", items=OPEN, maxItems=64, **ATOMIC),
    ] = None


class TorchPolicy(Part):
    """PyTorch through torchrun."""

    envInjection: Annotated[EnvInjection | None, wire("More containers that get the env.")] = None
    numProcPerNode: Annotated[
        int | str | None,
        wire(
            "Older spelling: processes on one node; a number, auto, cpu or gpu.",
            ours=True,
            rules=(TORCH_PROCESSES,),
        ),
    ] = None
    elasticPolicy: Annotated[
        ElasticPolicy | None,
        wire("Run with a changing number of nodes.", ours=True, rules=(ELASTIC_ORDER,)),
    ] = None


class MPIPolicy(Part):
    """Anything that mpirun starts."""

    numProcPerNode: Annotated[int, wire("Slots of one node.", default=1, our_rules=(MPI_PROCESSES,))] = 1
    mpiImplementation: Annotated[
        str,
        wire(
            "OpenMPI, Intel or MPICH.",
            default="OpenMPI",
            enum=["OpenMPI", ""],
            our={"enum": ["OpenMPI", "Intel", "MPICH"]},
        ),
    ] = "OpenMPI"
    sshAuthMountPath: Annotated[
        str, wire("Where the keys are mounted.", default="/root/.ssh", maxLength=4096)
    ] = "/root/.ssh"
    runLauncherAsNode: Annotated[bool, wire("The launcher trains as well.", default=False)] = False


class FluxPolicy(Part):
    """Flux as the scheduler within the job."""

    numProcPerNode: Annotated[int, wire("Tasks on one node.", default=1, rules=(FLUX_PROCESSES,))] = 1


class JAXPolicy(Part):
    """JAX; nothing to set."""


class XGBoostPolicy(Part):
    """XGBoost; nothing to set."""


class MLPolicy(Part):
    """Which framework, on how many nodes."""

    numNodes: Annotated[int | None, wire("Nodes where the job names no number.", our={"minimum": 1})] = None
    torch: Annotated[TorchPolicy | None, wire("PyTorch.")] = None
    mpi: Annotated[MPIPolicy | None, wire("MPI.")] = None
    flux: Annotated[FluxPolicy | None, wire("Flux.")] = None
    jax: Annotated[JAXPolicy | None, wire("JAX.")] = None
    xgboost: Annotated[XGBoostPolicy | None, wire("XGBoost.")] = None


class Coscheduling(Part):
    """Gangs by the coscheduling plug-in of scheduler-plugins."""

    scheduleTimeoutSeconds: Annotated[int, wire("How long a gang may wait half placed.", default=60)] = 60


class NetworkTopology(Part):
    """How near to each other the pods must be."""

    mode: Annotated[str, wire("hard or soft.", default="hard", enum=["hard", "soft"])] = "hard"
    highestTierAllowed: Annotated[int, wire("The highest tier they may span.", default=1, format=None)] = 1


class Volcano(Part):
    """Gangs by Volcano."""

    networkTopology: Annotated[NetworkTopology | None, wire("How near the pods must be.")] = None


class PodGroupPolicy(Part):
    """Which scheduler places the pods all at once."""

    coscheduling: Annotated[Coscheduling | None, wire("The coscheduling plug-in.")] = None
    volcano: Annotated[Volcano | None, wire("Volcano.")] = None
    minNodes: Annotated[
        int | None,
        wire(
            "Training nodes that must be placed at once; all, or the least of an elastic job.",
            ours=True,
            minimum=1,
        ),
    ] = None


class JobSetTemplate(Part):
    """The JobSet that jobs of this runtime become."""

    metadata: Annotated[Dict | None, wire("Labels and annotations of the JobSet.", kube="ObjectMeta")] = None
    spec: Annotated[Dict | None, wire("The JobSet.", kube="JobSetSpec")] = None


class RuntimeSpec(Part):
    """The blueprint."""

    mlPolicy: Annotated[
        MLPolicy | None,
        wire("Framework and number of nodes.", rules=(ONE_POLICY,), our_rules=(NODES_OR_ELASTIC,)),
    ] = None
    podGroupPolicy: Annotated[
        PodGroupPolicy | None, wire("Which scheduler makes gangs.", our_rules=(ONE_GANG,))
    ] = None
    template: Annotated[JobSetTemplate | None, wire("The JobSet template.", minProperties=1)] = None


class TrainingRuntime(Kind):
    """A blueprint for jobs of one namespace."""

    spec: Annotated[RuntimeSpec, wire("The blueprint.", minProperties=1)]


class ClusterTrainingRuntime(Kind):
    """A blueprint for jobs of all namespaces."""

    spec: Annotated[RuntimeSpec, wire("The blueprint.", minProperties=1)]
