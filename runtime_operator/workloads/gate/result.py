"""What a gate says: for each rule whether it holds, and one sentence why."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from .settings import GateSettings


class Judgement(BaseModel):
    """One rule, judged."""

    model_config = ConfigDict(frozen=True, ser_json_inf_nan="strings")

    rule: str
    holds: bool
    sentence: str
    value: float
    limit: float


class GateResult(BaseModel):
    """All rules, judged; the gate is open where all hold."""

    model_config = ConfigDict(frozen=True, ser_json_inf_nan="strings")

    passed: bool
    judgements: list[Judgement]
    settings: GateSettings

    @property
    def sentences(self) -> str:
        """What is said, a line a rule."""
        return "\n".join(each.sentence for each in self.judgements)
