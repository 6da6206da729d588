"""What `gate_model` does: let the tuned model pass, or end the run, by rules on what its evaluation found.

The path of the model goes through the gate, so that what comes behind can only get a model that has passed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..errors import JobFailed
from ..workloads.gate import GateResult, GateSettings, judge
from ..workloads.settings import parse_settings
from .documents import document
from .outputs import every_output, write_file, write_value

if TYPE_CHECKING:
    from kfp import dsl


def gate_model(
    model_path: str,
    evaluation_path: str,
    rules: str,
    verdict: dsl.Markdown,
    passed_path: str,
    settings: Mapping[str, Any] | None,
) -> None:
    """Judge the model and fill the outputs; JobFailed if it does not pass."""
    with every_output("The gate", verdict, values={passed_path: ""}):
        given = document(settings, evaluation=evaluation_path, rules=rules)
        result = judge(parse_settings(GateSettings, given))
        print(result.sentences, flush=True)
        if not result.passed:
            broken = [each.sentence for each in result.judgements if not each.holds]
            raise JobFailed(f"the model does not pass: {'; '.join(broken)}")
        write_file(verdict, verdict_of(result))
        write_value(passed_path, model_path)


def verdict_of(result: GateResult) -> str:
    """The judgement in Markdown."""
    return "\n".join(["# The model passes", "", *(f"- {each.sentence}" for each in result.judgements)]) + "\n"
