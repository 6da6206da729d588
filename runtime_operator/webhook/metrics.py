"""What is counted of admission and of posts of progress; labels are kinds and codes, never names."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0)


class AdmissionMetrics:
    """The metrics of the webhook, the progress endpoint and their certificate."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._verdicts = Counter(
            "kfp_trainer_admission_verdicts_total",
            "Objects judged by admission",
            ("kind", "allowed"),
            registry=registry,
        )
        self._seconds = Histogram(
            "kfp_trainer_admission_seconds",
            "Time from a review to its answer",
            ("kind",),
            buckets=BUCKETS,
            registry=registry,
        )
        self._posts = Counter(
            "kfp_trainer_progress_posts_total",
            "Posts of progress by the code of the answer",
            ("code",),
            registry=registry,
        )
        self.certificate_ends = Gauge(
            "kfp_trainer_certificate_not_after_seconds",
            "When the certificate of the webhook ends, in seconds since 1970",
            registry=registry,
        )

    def judged(self, kind: str, *, allowed: bool) -> None:
        """Count a verdict."""
        self._verdicts.labels(kind, str(allowed).lower()).inc()

    def took(self, kind: str, seconds: float) -> None:
        """Count the time of an answer."""
        self._seconds.labels(kind).observe(seconds)

    def posted(self, code: int) -> None:
        """Count a post of progress."""
        self._posts.labels(str(code)).inc()
