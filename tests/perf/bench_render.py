"""What a reconcile pays to parse a TrainJob of 4 KB and to build its objects, beside the least it can cost.

    python -m tests.perf.bench_render

Both sides run in one process, turn by turn, and the best of several rounds counts: a busy machine slows
both, so the ratio holds where the microseconds do not.
"""

from __future__ import annotations

import gc
import json
import sys
import time
from collections.abc import Callable, Sequence

from kfp_trainer.runtime_operator import api
from kfp_trainer.runtime_operator.render.render import render

from . import floor

ROUNDS = 12
CALLS = 300
MOST_RENDER, MOST_PARSE = 4.0, 3.0  # times the floor


def main() -> int:
    """Print the table; 1 if a ratio is above its limit."""
    rows = [
        ("parse a TrainJob of 4 KB", *measure(*parsing()), MOST_PARSE),
        ("build its objects", *measure(*building()), MOST_RENDER),
    ]
    print("| work | floor µs | ours µs | ratio | limit |\n|---|---|---|---|---|")
    for name, least, ours, limit in rows:
        print(f"| {name} | {least:.1f} | {ours:.1f} | {ours / least:.2f} | {limit:.0f} |")
    return int(any(ours > limit * least for _, least, ours, limit in rows))


def parsing() -> tuple[Callable[[], object], Callable[[], object]]:
    """The typed parse of the floor, and ours, from the bytes an API server sends."""
    import orjson

    sent = orjson.dumps(floor.train_job())
    return (lambda: floor.TypedTrainJob.model_validate_json(sent)), (lambda: api.read(orjson.loads(sent)))


def building() -> tuple[Callable[[], object], Callable[[], object]]:
    """The builder of the floor, and render with all its plug-ins."""
    document, runtime = floor.train_job(), floor.runtime()
    job, parsed = api.read(document), api.read(runtime)
    assert isinstance(job, api.TrainJob)
    assert not isinstance(parsed, api.TrainJob)
    same_work(floor.build(document, runtime), render(job, parsed).objects)
    return (lambda: floor.build(document, runtime)), (lambda: render(job, parsed))


def same_work(least: floor.Document, ours: Sequence[object]) -> None:
    """Refuse to compare builders that do not build the same JobSet, give or take labels and a variable."""
    jobset = json.loads(json.dumps(ours[-1]))
    for one, other in zip(least["spec"]["replicatedJobs"], jobset["spec"]["replicatedJobs"], strict=True):
        pods = [each["template"]["spec"]["template"]["spec"] for each in (one, other)]
        containers = [pod["containers"][0] for pod in pods]
        names = [{variable["name"] for variable in each["env"]} for each in containers]
        assert names[0] <= names[1], f"the floor sets more env: {names[0] - names[1]}"
        assert containers[0]["image"] == containers[1]["image"]
        assert pods[0].get("nodeSelector") == pods[1].get("nodeSelector")


def measure(one: Callable[[], object], other: Callable[[], object]) -> tuple[float, float]:
    """Microseconds of CPU a call, the best round of each."""
    best = [float("inf"), float("inf")]
    for call in (one, other):
        call()
    for _ in range(ROUNDS):
        for index, call in enumerate((one, other)):
            gc.collect()
            begin = time.process_time()
            for _ in range(CALLS):
                call()
            best[index] = min(best[index], (time.process_time() - begin) / CALLS)
    return best[0] * 1e6, best[1] * 1e6


if __name__ == "__main__":
    sys.exit(main())
