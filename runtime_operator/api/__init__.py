"""The kinds we serve: models, defaults, validation, and the CRDs made from them. No I/O."""

from .check import Checked, check
from .crds import crd_files, crds
from .modernise import modernise
from .read import AnyKind, read
from .runtime import (
    ClusterTrainingRuntime,
    Coscheduling,
    ElasticPolicy,
    EnvInjection,
    EnvInjectionTarget,
    FluxPolicy,
    JAXPolicy,
    JobSetTemplate,
    MLPolicy,
    MPIPolicy,
    NetworkTopology,
    PodGroupPolicy,
    RuntimeSpec,
    TorchPolicy,
    TrainingRuntime,
    Volcano,
    XGBoostPolicy,
)
from .runtime_rules import check_runtime, deprecation
from .stamp import stamp_patches
from .trainjob import (
    Initializer,
    InitializerSource,
    JobStatus,
    Metric,
    RuntimePatch,
    RuntimeRef,
    Trainer,
    TrainerStatus,
    TrainJob,
    TrainJobSpec,
    TrainJobStatus,
)
from .wire import Compat

__all__ = [
    "AnyKind",
    "Checked",
    "ClusterTrainingRuntime",
    "Compat",
    "Coscheduling",
    "ElasticPolicy",
    "EnvInjection",
    "EnvInjectionTarget",
    "FluxPolicy",
    "Initializer",
    "InitializerSource",
    "JAXPolicy",
    "JobSetTemplate",
    "JobStatus",
    "MLPolicy",
    "MPIPolicy",
    "Metric",
    "NetworkTopology",
    "PodGroupPolicy",
    "RuntimePatch",
    "RuntimeRef",
    "RuntimeSpec",
    "TorchPolicy",
    "TrainJob",
    "TrainJobSpec",
    "TrainJobStatus",
    "Trainer",
    "TrainerStatus",
    "TrainingRuntime",
    "Volcano",
    "XGBoostPolicy",
    "check",
    "check_runtime",
    "crd_files",
    "crds",
    "deprecation",
    "modernise",
    "read",
    "stamp_patches",
]
