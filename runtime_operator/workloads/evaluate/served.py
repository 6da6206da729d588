"""A served chat model as lm-eval sees its models: it answers, and tells no probabilities.

Imported only when lm-eval is loaded anyway.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from lm_eval.api.model import LM

from ...errors import SpecError
from .chat_client import ChatClient

LONGEST = 256  # what lm-eval asks for where a task says nothing


class ServedModel(LM):  # type: ignore[misc]  # lm-eval carries no types for mypy
    """Asks so many questions at once; prompts are conversations, written as JSON."""

    def __init__(self, client: ChatClient, *, at_once: int) -> None:
        super().__init__()
        self._client, self._at_once = client, at_once

    def generate_until(self, requests: Sequence[Any], disable_tqdm: bool = False) -> list[str]:
        """The answers, in the order of the questions."""
        with ThreadPoolExecutor(self._at_once) as pool:
            asked = [pool.submit(self._answer, *request.args) for request in requests]
            try:
                return [each.result() for each in asked]
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise

    def loglikelihood(self, requests: Sequence[Any], disable_tqdm: bool = False) -> list[tuple[float, bool]]:
        """Cannot be told."""
        raise SpecError(
            f"model: {self._client.url} is a served chat model and tells no probabilities, which choices and "
            "perplexity need; give the folder"
        )

    def loglikelihood_rolling(self, requests: Sequence[Any], disable_tqdm: bool = False) -> list[float]:
        """Cannot be told."""
        self.loglikelihood(requests)
        return []

    def apply_chat_template(
        self, chat_history: Sequence[Mapping[str, Any]], add_generation_prompt: bool = True
    ) -> str:
        """The server's own template makes the prompt."""
        return json.dumps(list(chat_history))

    def chat_template(self, chat_template: bool | str = False) -> str:
        """Nobody tells."""
        return ""

    @property
    def tokenizer_name(self) -> str:
        """What lm-eval keeps its requests under."""
        return self._client.name

    def _answer(self, prompt: str, options: Mapping[str, Any]) -> str:
        ends = options.get("until") or ()
        ends = [ends] if isinstance(ends, str) else [end for end in ends if end]
        longest = int(options.get("max_gen_toks") or options.get("max_tokens") or LONGEST)
        return self._client.ask(json.loads(prompt), longest=longest, ends=ends)
