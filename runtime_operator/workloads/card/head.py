"""The head of a card: what a hub reads of it. Only names that a hub knows are given as names of its own."""

from __future__ import annotations

from typing import Any

import yaml

from .facts import CardFacts

LIBRARIES = {True: "peft", False: "transformers"}


def card_head(facts: CardFacts, *, adapter: bool) -> str:
    """The YAML between the first two lines of dashes."""
    settings = facts.run.settings
    head: dict[str, Any] = {
        "license": (facts.base.licence or "unknown").lower(),
        "library_name": LIBRARIES[adapter],
        "pipeline_tag": "text-generation",
        "tags": ["kfp-trainer", settings.method, settings.objective, settings.backend],
    }
    if facts.base.hub_name:
        head["base_model"] = facts.base.hub_name
        head["base_model_relation"] = "adapter" if adapter else "finetune"
    if facts.dataset.hub_name:
        head["datasets"] = [facts.dataset.hub_name]
    if results := _results(facts):
        head["model-index"] = [{"name": facts.name, "results": results}]
    return yaml.safe_dump(head, sort_keys=False, allow_unicode=True, width=110)


def _results(facts: CardFacts) -> list[dict[str, Any]]:
    evaluation = facts.evaluation
    if evaluation is None:
        return []
    return [
        {
            "task": {"type": "text-generation"},
            "dataset": _asked(facts, score.name),
            "metrics": [
                {
                    "type": score.name.rpartition("/")[2],
                    "name": score.name,
                    "value": round(score.tuned.value, 6),
                }
            ],
        }
        for score in evaluation.scores
        if score.tuned is not None
    ]


def _asked(facts: CardFacts, score: str) -> dict[str, str]:
    """The rows, or the task of lm-eval by whose name its scores begin."""
    task, found, _ = score.partition("/")
    if found or facts.judged is None:
        return {"name": task, "type": task}
    return {"name": facts.judged.name, "type": facts.judged.hub_name or "private"}
