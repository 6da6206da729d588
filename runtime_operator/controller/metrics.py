"""What Prometheus can ask of the controller. Labels are kinds, verbs and results: never names."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

BUCKETS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0)
LATENCIES = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)


class Metrics:
    """The controller's metrics in a registry of their own."""

    def __init__(self, registry: CollectorRegistry | None = None) -> None:
        self.registry = registry or CollectorRegistry()
        self.passes = Counter(
            "kfp_trainer_reconcile_total", "Passes over a job.", ["result"], registry=self.registry
        )
        self.seconds = Histogram(
            "kfp_trainer_reconcile_seconds", "Time of a pass.", registry=self.registry, buckets=BUCKETS
        )
        self.writes = Counter(
            "kfp_trainer_writes_total", "Writes that were accepted.", ["verb", "kind"], registry=self.registry
        )
        self.to_jobset = Histogram(
            "kfp_trainer_jobset_latency_seconds",
            "From the creation of a TrainJob, to the second, to its JobSet.",
            registry=self.registry,
            buckets=LATENCIES,
        )
        self.ended = Counter(
            "kfp_trainer_jobs_ended_total", "TrainJobs that ended.", ["condition"], registry=self.registry
        )
        self.queue = Gauge("kfp_trainer_queue_length", "Jobs that wait for a worker.", registry=self.registry)
        self.jobs = Gauge("kfp_trainer_jobs", "TrainJobs that are known.", registry=self.registry)
        self.older_jobs = Gauge(
            "kfp_trainer_older_jobs", "Jobs of older kinds that are known.", ["kind"], registry=self.registry
        )
        self.older_ended = Counter(
            "kfp_trainer_older_jobs_ended_total",
            "Jobs of older kinds that ended.",
            ["kind", "condition"],
            registry=self.registry,
        )
        self.leads = Gauge(
            "kfp_trainer_is_leader", "Whether this process acts on TrainJobs.", registry=self.registry
        )
        self.silent = Gauge(
            "kfp_trainer_watch_silence_seconds",
            "Since when the API server showed nothing of a kind.",
            ["kind"],
            registry=self.registry,
        )

    def wrote(self, verb: str, kind: str) -> None:
        """Count a write."""
        self.writes.labels(verb, kind).inc()
