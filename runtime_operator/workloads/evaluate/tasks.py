"""Tasks of lm-eval, by name or by a YAML file of one's own, asked of both models with the same seeds.

Their data must be at hand: nothing is fetched here. What lm-eval says of each row goes the way of our own
scores; a figure that it has no rows for (a corpus' perplexity) has no interval.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from difflib import get_close_matches
from functools import lru_cache
from importlib import import_module
from io import StringIO
from pathlib import Path
from typing import Any

import yaml

from ...errors import SpecError
from .comparison import Estimate, Score
from .scoring import score_of
from .settings import EvaluateSettings

Results = Mapping[str, Any]
SHOWN = 200
LOWER = ("perplexity", "bits_per_byte", "brier")


def check_tasks(tasks: Sequence[str]) -> None:
    """Say which task is not known, with the nearest name."""
    for task in tasks:
        if _is_file(task):
            _config(task)
            continue
        known = _manager(shipped=True).all_tasks
        if task not in known:
            near = get_close_matches(task, known, n=1)
            hint = f"did you mean {near[0]}" if near else "`lm_eval ls tasks` lists them"
            raise SpecError(f"tasks: lm-eval knows no task {task!r}, {hint}, or give a YAML file")


def run_tasks(settings: EvaluateSettings, model: Any, *, chat: bool) -> Results:
    """Ask one model all tasks."""
    from jinja2 import TemplateError
    from lm_eval import simple_evaluate

    with redirect_stdout(StringIO()), redirect_stderr(StringIO()), _prepared(settings.task_data):
        try:
            found = simple_evaluate(
                model=model,
                tasks=[_config(each) if _is_file(each) else each for each in settings.tasks],
                limit=settings.limit,
                bootstrap_iters=0,
                log_samples=True,
                apply_chat_template=chat,
                random_seed=settings.seed,
                numpy_random_seed=settings.seed,
                torch_random_seed=settings.seed,
                fewshot_random_seed=settings.seed,
                task_manager=_manager(shipped=not all(map(_is_file, settings.tasks))),
            )
        except (FileNotFoundError, ConnectionError) as error:
            text = f"the data of {', '.join(settings.tasks)} is not at hand: {error}; fetch it into task_data"
            raise SpecError(f"tasks: {text}") from error
        except (LookupError, ValueError, TypeError, AssertionError, TemplateError) as error:
            words = " ".join(f"{type(error).__name__}: {error}".split())[:SHOWN]
            text = f"lm-eval cannot ask {', '.join(settings.tasks)}, {words}; compare the task with its rows"
            raise SpecError(f"tasks: {text}") from error
    return found or {}


@contextmanager
def _prepared(data: Path | None) -> Iterator[None]:
    """A dataset that lies in `data` under its name on the hub is read there; nobody surveys the machine."""
    datasets, evaluator = import_module("datasets"), import_module("lm_eval.evaluator")
    plain, survey = datasets.load_dataset, evaluator.add_env_info

    def load(path: str, *more: Any, **named: Any) -> Any:
        local = data / path if data else None
        return plain(str(local) if local and local.is_dir() else path, *more, **named)

    datasets.load_dataset = load  # type: ignore[attr-defined]
    evaluator.add_env_info = lambda results: None  # type: ignore[attr-defined]
    try:
        yield
    finally:
        datasets.load_dataset = plain  # type: ignore[attr-defined]
        evaluator.add_env_info = survey  # type: ignore[attr-defined]


def score_tasks(settings: EvaluateSettings, found: Sequence[Results]) -> list[Score]:
    """The figures of every task, of the base and, if there is one, of the tuned model."""
    scores = []
    for task, figures in found[0].get("results", {}).items():
        for key, value in figures.items():
            metric, _, which = key.partition(",")
            if isinstance(value, int | float) and which and not metric.endswith("_stderr"):
                scores.append(_task_score(settings, found, task, key, metric))
    return scores


def _task_score(
    settings: EvaluateSettings, found: Sequence[Results], task: str, key: str, metric: str
) -> Score:
    name, lower = f"{task}/{metric}", _lower_is_better(found[0], task, metric)
    columns = [_column(each, task, metric) for each in found]
    if all(columns) and len({len(each) for each in columns}) == 1:
        return score_of(settings, name, columns, lower_is_better=lower)
    values = [Estimate(value=float(each["results"][task][key])) for each in found]
    gap = Estimate(value=values[1].value - values[0].value) if len(values) > 1 else None
    rows = len(found[0].get("samples", {}).get(task, ()))
    tuned = values[1] if len(values) > 1 else None
    return Score(name=name, rows=rows, base=values[0], tuned=tuned, difference=gap, lower_is_better=lower)


def _lower_is_better(found: Results, task: str, metric: str) -> bool:
    """As the task says, or by the metric's name."""
    told = found.get("higher_is_better", {}).get(task, {}).get(metric)
    return any(word in metric for word in LOWER) if told is None else not told


def _column(found: Results, task: str, metric: str) -> list[tuple[float, ...]]:
    """A number for each row, if the metric is the mean of one."""
    samples = found.get("samples", {}).get(task, ())
    numbers = [each.get(metric) for each in samples]
    if not all(isinstance(each, int | float) for each in numbers):
        return []
    return [(float(each),) for each in numbers]


def _is_file(task: str) -> bool:
    return task.endswith((".yaml", ".yml"))


def _config(task: str) -> dict[str, Any]:
    """A task of one's own; what lm-eval would run as a program is refused."""
    try:
        config = yaml.safe_load(Path(task).read_text(encoding="utf-8"))
    except (OSError, yaml.YAMLError) as error:
        raise SpecError(
            f"tasks: {task}: cannot be read as a task of lm-eval, {' '.join(str(error).split())}"
        ) from None
    if not isinstance(config, dict) or "task" not in config:
        raise SpecError(f"tasks: {task}: is no task of lm-eval, it needs a name in `task`")
    _check_metrics(task, config)
    return config


def _check_metrics(task: str, config: Mapping[str, Any]) -> None:
    """What lm-eval does not know it would look for on the hub."""
    from lm_eval.api.registry import METRIC_REGISTRY

    import_module("lm_eval.api.metrics")  # which registers them
    named = [each.get("metric") for each in config.get("metric_list", ()) if isinstance(each, dict)]
    for metric in (each for each in named if isinstance(each, str) and each not in METRIC_REGISTRY):
        near = get_close_matches(metric, METRIC_REGISTRY, n=1)
        hint = f"did you mean {near[0]}" if near else f"it has {', '.join(METRIC_REGISTRY)}"
        raise SpecError(f"tasks: {task}: lm-eval has no metric {metric!r}, {hint}")


@lru_cache(maxsize=2)
def _manager(*, shipped: bool) -> Any:
    """What knows the tasks; to read those that lm-eval ships takes it some ten seconds."""
    from lm_eval.tasks import TaskManager

    return TaskManager(include_defaults=shipped)
