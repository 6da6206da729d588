"""A run whose input is in order: what was asked for, where it runs, the model, the rows, and its plan.

What can be wrong with any of them is said here, before torch is imported.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

from ..dataset.example import in_plain
from ..models import check_model
from .examples import Rows, read_examples
from .machine import read_machine
from .model_facts import ModelFacts, read_model
from .outputs import CHECKPOINTS
from .plan import Plan, RowFacts, fit_batch, make_plan, share_of_batch
from .preflight import check_foreign, check_model_facts, check_rows, check_settings, check_space
from .processes import Place, read_place
from .settings import FinetuneSettings
from .torchtune.preparing import check_run, torchtune_plan

CHARACTERS_A_TOKEN = 3  # for a plan made without the tokenizer: rather too long than too short
UNDECISIVE = {
    "model",
    "dataset",
    "output",
    "log_every",
    "save_every",
    "keep_checkpoints",
    "merge",
    "push",
    "report_to",
    "trust_remote_code",
}
"""settings that the losses do not depend on"""


@dataclass(frozen=True, slots=True)
class Given:
    """A run whose input is in order."""

    settings: FinetuneSettings
    place: Place
    model: ModelFacts
    rows: Rows

    def plan(self, rows: RowFacts) -> Plan:
        """What will be done with rows of this number and length."""
        if self.settings.backend == "torchtune":
            return torchtune_plan(self.settings, model=self.model, rows=rows, place=self.place)
        return make_plan(
            self.settings,
            model=self.model,
            rows=rows,
            machine=read_machine(),
            processes=self.place.processes,
            local_processes=self.place.local,
        )

    def early_plan(self) -> Plan:
        """What will be done, as far as it can be told without the tokenizer."""
        longest = max(len(in_plain(example)) for example in self.rows.train)
        return self.plan(RowFacts(len(self.rows.train), longest // CHARACTERS_A_TOKEN + 32))

    def checkpoints(self, digests: dict[str, str]) -> Path:
        """The folder of this run's checkpoints, named by what decides the losses."""
        decisive = self.settings.model_dump_json(exclude=UNDECISIVE)
        name = hashlib.sha256(f"{decisive}{sorted(digests.items())}".encode()).hexdigest()[:16]
        return self.settings.output / CHECKPOINTS / name


def check_given(settings: FinetuneSettings) -> Given:
    """Check everything that can be checked at once; SpecError names what is wrong."""
    place = read_place(os.environ)
    settings = fit_batch(settings, place.processes)
    share_of_batch(settings, place.processes)
    check_settings(settings)
    check_model(settings.model, chats=False)
    model = read_model(settings.model)
    check_model_facts(settings, model)
    if settings.backend == "torchtune":
        check_run(settings, model, processes=place.processes)
    rows = read_examples(settings)
    check_rows(settings, rows)
    given = Given(settings, place, model, rows)
    if place.first:
        check_foreign(settings.output)
        plan = given.early_plan()
        check_space(settings, model, checkpoints=0 < plan.save_every <= plan.steps)
    return given
