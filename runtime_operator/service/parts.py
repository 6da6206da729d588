"""What one process of the operator consists of, put together from its settings; nothing runs yet."""

from __future__ import annotations

import base64
import logging
from datetime import UTC, datetime

from prometheus_client import CollectorRegistry

from ..controller.metrics import Metrics
from ..controller.operator import Operator
from ..controller.settings import ControllerSettings
from ..kube.events import Recorder
from ..kube.transport import Transport
from ..render.plan import Object
from ..webhook.certificate_store import FolderStore, SecretStore, Store
from ..webhook.certificates import names_of
from ..webhook.metrics import AdmissionMetrics
from ..webhook.serving import Serving
from ..webhook.trust import CONFIGURATIONS, OLDER_KINDS
from .admission_world import AdmissionWorld
from .settings import ServiceSettings

LOG = logging.getLogger(__name__)
COMPONENT = "trainjob-controller"
WITH_THE_JOBSET = frozenset({"ConfigMapCreated", "SecretCreated"})


class Parts:
    """Made inside a running loop."""

    def __init__(self, transport: Transport, settings: ServiceSettings, own_namespace: str) -> None:
        self.transport, self.settings, self.own_namespace = transport, settings, own_namespace
        self.registry = CollectorRegistry()
        self.admission_metrics = AdmissionMetrics(self.registry)
        self.facts = settings.facts(own_namespace)
        self.serving = (
            Serving(
                self._store(),
                transport,
                self.admission_metrics,
                publishes=settings.admits,
                configurations=CONFIGURATIONS + (OLDER_KINDS if settings.older_kinds else ()),
            )
            if settings.has_certificate
            else None
        )
        self.recorder = Recorder(transport, COMPONENT)
        self.operator = Operator(
            transport,
            settings=ControllerSettings(
                namespace=settings.namespace,
                workers=settings.workers,
                judges=not settings.admits,
                facts=self.facts,
                older_kinds=settings.older_kinds,
                installation=settings.installation,
            ),
            metrics=Metrics(self.registry),
            recorder=Telling(self.recorder),
            certificate=self.certificate,
        )
        self.world = AdmissionWorld(transport, self.operator.caches, self.facts, self.certificate)

    def certificate(self) -> Object | None:
        """The Secret of the certificate as far as jobs need it: whom their trainers must trust."""
        if self.serving is None or not self.serving.authority:
            return None
        metadata = {"name": self.facts.certificate, "namespace": self.own_namespace}
        data = {"ca.crt": base64.b64encode(self.serving.authority).decode()}
        return {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": data}

    def _store(self) -> Store:
        if self.settings.cert_dir is not None:
            return FolderStore(self.settings.cert_dir)
        names = names_of(self.facts.operator_service, self.own_namespace)
        return SecretStore(
            self.transport,
            self.own_namespace,
            self.facts.certificate,
            names,
            now=lambda: datetime.now(UTC),
        )


class Telling:
    """What the controller decided, told twice: in an event of the job, and in the log."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder

    def record(self, about: Object, reason: str, message: str, *, type_: str = "Normal") -> None:
        """Tell one decision; parts of a job that come with its JobSet are told to the curious only."""
        self._recorder.record(dict(about), reason, message, type=type_)
        level = logging.WARNING if type_ == "Warning" else logging.INFO
        if reason in WITH_THE_JOBSET:
            level = logging.DEBUG
        if LOG.isEnabledFor(level):
            metadata = about["metadata"]
            extra = {"reason": reason, "namespace": metadata.get("namespace", ""), "job": metadata["name"]}
            LOG.log(level, "%s", message, extra=extra)
