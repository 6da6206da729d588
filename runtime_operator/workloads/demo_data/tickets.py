"""A customer's message and the ticket that a support desk makes of it, both drawn from a grammar.

What the message says is known exactly, so its ticket is right by construction: which product and which order
it is about, what the customer asks for, and on which day to call. What is not said is null.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from .shop import CALLS, GREETINGS, HELD_OUT, ORDERS, TRAINING, WISHES, Words

LETTERS = "ABEHKMPRT"
WITH_ORDER, WITH_DAY, WITH_GREETING = 0.65, 0.5, 0.5
ASK = "Turn the message into a ticket in JSON: product, order, request, call."


@dataclass(frozen=True, slots=True)
class Ticket:
    """One message and what it says."""

    message: str
    product: str
    order: str | None
    request: str
    call: str | None
    new_words: bool
    """whether it is made of words that no training row has"""

    @property
    def line(self) -> str:
        """The ticket as the support desk's program reads it."""
        names = ("product", "order", "request", "call")
        return json.dumps({name: getattr(self, name) for name in names})

    @property
    def turns(self) -> list[dict[str, str]]:
        """The row as a conversation."""
        said = {"system": ASK, "user": self.message, "assistant": self.line}
        return [{"role": role, "content": content} for role, content in said.items()]


class Shop:
    """Draws messages, no two of which tell the same problem of the same product."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)
        self._told: set[str] = set()

    def training(self) -> Iterator[Ticket]:
        """Messages to learn from."""
        while True:
            yield self._new(TRAINING)

    def held_out(self) -> Iterator[Ticket]:
        """Messages to be judged by; every other one is made of words that no training row has."""
        while True:
            yield self._new(HELD_OUT)
            yield self._new(TRAINING)

    def _new(self, words: Words) -> Ticket:
        random = self._random
        while True:
            product = random.choice(words.products)
            problem = random.choice(words.problems).format(product)
            if problem not in self._told:
                self._told.add(problem)
                return _ticket(random, words, product=product, problem=problem)


def _ticket(random: Random, words: Words, *, product: str, problem: str) -> Ticket:
    order = _order(random) if random.random() < WITH_ORDER else None
    day = random.choice(words.days) if random.random() < WITH_DAY else None
    request = random.choice(words.requests)
    sentences = [problem, random.choice(WISHES).format(request)]
    if order:
        sentences.append(random.choice(ORDERS).format(order))
    if day:
        sentences.append(random.choice(CALLS).format(day))
    random.shuffle(sentences)
    greeting = f"{random.choice(GREETINGS)}! " if random.random() < WITH_GREETING else ""
    return Ticket(
        message=greeting + " ".join(sentences),
        product=product,
        order=order,
        request=request,
        call=day,
        new_words=words is HELD_OUT,
    )


def _order(random: Random) -> str:
    return f"{random.choice(LETTERS)}-{random.randrange(10_000, 100_000)}"
