"""Starts the schedulers: Kubernetes' own, Volcano, and the one with the coscheduling plug-in."""

from .build import module_folder
from .site import Site

VOLCANO = "volcano.sh/volcano"


def start_scheduler(site: Site) -> None:
    """Kubernetes' own scheduler."""
    flags = ["--leader-elect=false", "--secure-port=0", "--kube-api-qps=500", "--kube-api-burst=1000"]
    site.run("scheduler", "kube-scheduler", [f"--kubeconfig={site.kubeconfig}", *flags])


def start_volcano(site: Site) -> None:
    """Volcano's scheduler and the controllers of its queues and groups."""
    conf = module_folder("kubernetes", VOLCANO) / "installer/helm/chart/volcano/config/volcano-scheduler.conf"
    common = [f"--kubeconfig={site.kubeconfig}", "--leader-elect=false"]
    scheduler = [f"--scheduler-conf={conf}", "--cache-dumper=false", "--schedule-period=200ms"]
    site.run(
        "volcano", "volcano-scheduler", [*common, *scheduler, f"--listen-address={site.address('volcano')}"]
    )
    site.run(
        "volcano-controller",
        "volcano-controller",
        [
            *common,
            "--controllers=queue-controller,pg-controller",
            f"--listen-address={site.address('volcano-2')}",
        ],
    )


def start_coscheduling(site: Site) -> None:
    """A scheduler that places the pods of a group together, and the controller of the groups."""
    coscheduling = {"name": "Coscheduling"}
    profile = {
        "schedulerName": "scheduler-plugins-scheduler",
        "plugins": {
            "multiPoint": {"enabled": [coscheduling]},
            "queueSort": {"enabled": [coscheduling], "disabled": [{"name": "*"}]},
        },
        "pluginConfig": [{"name": "Coscheduling", "args": {"permitWaitingTimeSeconds": 10}}],
    }
    config = site.write(
        "coscheduling.json",
        {
            "apiVersion": "kubescheduler.config.k8s.io/v1",
            "kind": "KubeSchedulerConfiguration",
            "leaderElection": {"leaderElect": False},
            "clientConnection": {"kubeconfig": str(site.kubeconfig)},
            "profiles": [profile],
        },
    )
    site.run("coscheduling", "coscheduling-scheduler", [f"--config={config}", "--secure-port=0"])
    ports = [
        f"--metricsAddr={site.address('coscheduling-metrics')}",
        f"--probeAddr={site.address('coscheduling-health')}",
    ]
    site.run("coscheduling-controller", "coscheduling-controller", ports)
