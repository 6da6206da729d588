"""Starts the schedulers: Kubernetes' own, Volcano, and the one with the coscheduling plug-in."""

import yaml

from .build import module_folder
from .shipped import documents
from .site import HOST, ROOT, Site

SHIPPED = ROOT / "manifests" / "overlays" / "coscheduling" / "scheduler_configuration.yaml"

VOLCANO = "volcano.sh/volcano"
VOLCANO_ADMITS = (
    "/jobs/mutate /jobs/validate /podgroups/validate /queues/mutate /queues/validate /hypernodes/validate"
    " /cronjobs/validate"
).split()


def start_scheduler(site: Site) -> None:
    """Kubernetes' own scheduler."""
    flags = ["--leader-elect=false", "--secure-port=0", "--kube-api-qps=500", "--kube-api-burst=1000"]
    site.run("scheduler", "kube-scheduler", [f"--kubeconfig={site.kubeconfig_of('scheduler')}", *flags])


def start_volcano_admission(site: Site) -> None:
    """What admits Volcano's kinds; its scheduler makes a queue as it starts, which this has to admit."""
    pki = site.pki
    certificates = [f"--tls-cert-file={pki / 'server.crt'}", f"--tls-private-key-file={pki / 'server.key'}"]
    service = ["--webhook-namespace=volcano-system", "--webhook-service-name=volcano-webhook"]
    site.run(
        "volcano-webhook",
        "volcano-webhook",
        [
            f"--kubeconfig={site.kubeconfig_of('volcano-webhook')}",
            *certificates,
            f"--ca-cert-file={pki / 'ca.crt'}",
            f"--listen-address={HOST}",
            f"--port={site.port('volcano-webhook')}",
            f"--enabled-admission={','.join(VOLCANO_ADMITS)}",
            *service,
        ],
    )


def start_volcano(site: Site) -> None:
    """Volcano's scheduler and the controllers of its queues and groups."""
    conf = module_folder("kubernetes", VOLCANO) / "installer/helm/chart/volcano/config/volcano-scheduler.conf"
    common = ["--leader-elect=false", "--kube-api-qps=500", "--kube-api-burst=1000"]
    site.run(
        "volcano",
        "volcano-scheduler",
        [
            f"--kubeconfig={site.kubeconfig_of('volcano')}",
            *common,
            f"--scheduler-conf={conf}",
            "--cache-dumper=false",
            "--schedule-period=200ms",
            f"--listen-address={site.address('volcano')}",
        ],
    )
    site.run(
        "volcano-controller",
        "volcano-controller",
        [
            f"--kubeconfig={site.kubeconfig_of('volcano-controller')}",
            *common,
            "--controllers=queue-controller,pg-controller",
            f"--listen-address={site.address('volcano-2')}",
        ],
    )


def start_coscheduling(site: Site) -> None:
    """A scheduler that places the pods of a group together, configured as our overlay proposes."""
    shipped = yaml.safe_load(documents(SHIPPED, "ConfigMap")[0]["data"]["scheduler-config.yaml"])
    config = site.write(
        "coscheduling.json",
        {
            **shipped,
            "leaderElection": {"leaderElect": False},
            "clientConnection": {
                "kubeconfig": str(site.kubeconfig_of("coscheduling")),
                "qps": 500,
                "burst": 1000,
            },
        },
    )
    site.run("coscheduling", "coscheduling-scheduler", [f"--config={config}", "--secure-port=0"])
    ports = [
        f"--metricsAddr={site.address('coscheduling-metrics')}",
        f"--probeAddr={site.address('coscheduling-health')}",
    ]
    limits = ["--qps=500", "--burst=1000"]
    site.run("coscheduling-controller", "coscheduling-controller", [*ports, *limits])
