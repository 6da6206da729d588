"""Asks a model the questions, by lm-eval's requests: what it says, how likely it holds what is expected."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from ..dataset.example import Turn
from .questions import Question


@dataclass(frozen=True, slots=True)
class Said:
    """What one model makes of one question."""

    text: str
    nats: float = 0.0
    """of the expected answer, summed over its tokens"""
    tokens: int = 0
    logprobs: tuple[float, ...] = ()
    """of each choice"""


class Asker:
    """One model with the tokenizer that makes its prompts; a served one makes them itself."""

    def __init__(self, model: Any, tokenizer: Any, *, max_new_tokens: int) -> None:
        self._model, self._tokenizer, self._max_new_tokens = model, tokenizer, max_new_tokens

    def ask(self, questions: Sequence[Question], *, wants_perplexity: bool) -> list[Said]:
        """Ask every question; those with choices are not answered freely."""
        free = [each for each in questions if not each.choices]
        texts = iter(self._answers(free))
        nats = iter(self._nats(free) if wants_perplexity else [(0.0, 0)] * len(free))
        choices = iter(self._choices([each for each in questions if each.choices]))
        return [next(choices) if each.choices else Said(next(texts), *next(nats)) for each in questions]

    def digest(self, questions: Sequence[Question]) -> str | None:
        """Of all that is put to the model; a served one does not tell how it reads a conversation."""
        if self._tokenizer is None:
            return None
        whole = json.dumps([[self._prompt(each), each.expected, each.choices] for each in questions])
        return sha256(whole.encode()).hexdigest()

    def _answers(self, questions: Sequence[Question]) -> list[str]:
        options = {"max_gen_toks": self._max_new_tokens, "do_sample": False, "until": self._ends()}
        asked = [(self._prompt(each), options) for each in questions]
        requests = [_request("generate_until", each, at) for at, each in enumerate(asked)]
        said = self._model.generate_until(requests, disable_tqdm=True) if requests else []
        return [text.strip() for text in said]

    def _nats(self, questions: Sequence[Question]) -> list[tuple[float, int]]:
        told = self._logprobs([(self._prompt(each), self._whole(each)) for each in questions])
        return [(-logprob, tokens) for logprob, tokens in told]

    def _choices(self, questions: Sequence[Question]) -> list[Said]:
        prompts = [(self._prompt(each), each.choices) for each in questions]
        told = iter(self._logprobs([(prompt, prompt + each) for prompt, among in prompts for each in among]))
        return [self._choice(each, [next(told)[0] for _ in each.choices]) for each in questions]

    def _choice(self, question: Question, logprobs: Sequence[float]) -> Said:
        """What a model chooses; a long answer is not held against it."""
        pairs = zip(logprobs, question.choices, strict=True)
        each = tuple(logprob / max(len(choice), 1) for logprob, choice in pairs)
        return Said(question.choices[each.index(max(each))], logprobs=each)

    def _logprobs(self, pairs: Sequence[tuple[str, str]]) -> list[tuple[float, int]]:
        """Of what each whole text has beyond its prompt, and how many tokens that is.

        lm-eval counts the white space at a prompt's end as part of the answer, which training does not; so it
        is given the tokens.
        """
        if not pairs:
            return []
        asked = []
        for prompt, whole in pairs:
            read = self._tokens(whole)
            start = _common(self._tokens(prompt), read)
            asked.append(((prompt, whole), read[:start], read[start:]))
        told = self._model._loglikelihood_tokens(asked, disable_tqdm=True)
        return [(float(logprob), len(each[2])) for (logprob, _), each in zip(told, asked, strict=True)]

    def _tokens(self, text: str) -> list[int]:
        found: list[int] = self._tokenizer(text, add_special_tokens=False)["input_ids"]
        return found

    def _prompt(self, question: Question) -> str:
        """The text that the model reads, or the conversation for one that is served."""
        if self._tokenizer is None:
            return json.dumps(list(question.turns))
        return self._rendered(question, list(question.turns), ready=True)

    def _whole(self, question: Question) -> str:
        """The conversation with the expected answer, the end of the turn included."""
        return self._rendered(
            question, [*question.turns, {"role": "assistant", "content": question.expected}], ready=False
        )

    def _rendered(self, question: Question, turns: list[Turn], *, ready: bool) -> str:
        return str(
            self._tokenizer.apply_chat_template(
                turns, tools=list(question.tools) or None, tokenize=False, add_generation_prompt=ready
            )
        )

    def _ends(self) -> list[str]:
        end = self._tokenizer.eos_token if self._tokenizer is not None else None
        return [end] if end else []


def _request(kind: str, arguments: tuple[Any, ...], index: int) -> Any:
    from lm_eval.api.instance import Instance

    return Instance(request_type=kind, doc={}, arguments=arguments, idx=index)


def _common(one: Sequence[int], other: Sequence[int]) -> int:
    """How many tokens both begin with; the prompt's last one may be another where the answer follows."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))
