"""The small world of the demo: what customers of a household shop write, and what is asked about it.

A message is drawn from a grammar, so what it is about is known exactly. Two kinds of question are made from
it. The general ones (repeat it, what is it about, is it urgent) are what the base model is trained on. The
line `queue | urgency` is what fine-tuning teaches: the base has read such messages and never
the line.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

PRODUCTS = (
    "lamp kettle toaster blender heater fan radio clock camera printer keyboard monitor tablet router "
    "vacuum mixer oven fridge drill ladder mower tent bicycle helmet"
).split()

PROBLEMS = {
    "billing": (
        "I was charged twice for the {}",
        "the invoice for my {} shows the wrong amount",
        "I paid for a {} and was never sent a receipt",
        "the discount on the {} is missing from my bill",
        "my card was refused when I bought the {}",
        "you took the price of two orders for one {}",
    ),
    "delivery": (
        "my {} has not arrived yet",
        "the parcel with the {} went to the wrong address",
        "the tracking of my {} has not moved for days",
        "the driver left the {} out in the rain",
        "nobody came on the day the {} was promised",
        "I am still waiting for the {} to be shipped",
    ),
    "repair": (
        "my {} stopped working",
        "the {} makes a strange noise",
        "the {} does not switch on any more",
        "a part of the {} broke off",
        "smoke came out of the {}",
        "the {} gets far too hot",
    ),
    "returns": (
        "I want to send the {} back",
        "the {} is the wrong size for me",
        "I would like to swap the {} for another colour",
        "I changed my mind about the {}",
        "the {} does not look like the picture",
        "how do I give the {} back to you",
    ),
    "advice": (
        "how do I clean the {}",
        "where is the manual of the {}",
        "may the {} be used in the garden",
        "is the {} safe for children",
        "what does the {} weigh",
        "which spare parts does the {} need",
    ),
}

GREETINGS = ("Hello", "Good morning", "Dear team", "Hi there", "Good evening", "To whom it may concern")
URGENT = ("please help today", "this cannot wait", "I need an answer at once", "it is an emergency")
CALM = ("there is no hurry", "answer when you have time", "next week is fine", "thank you for your patience")
GENERAL = (
    ("Repeat this message.", "{text}"),
    ("Is this message urgent?", "{urgent}"),
    ("What is this message about?", "It is about a {product}."),
    ("How does this message begin?", "It begins with {greeting}."),
)
ASK = "Sort this message into queue and urgency."


@dataclass(frozen=True, slots=True)
class Message:
    """One message and what it is about."""

    text: str
    greeting: str
    queue: str
    product: str
    urgent: bool

    @property
    def label(self) -> str:
        """The line that fine-tuning teaches."""
        return f"{self.queue} | {'high' if self.urgent else 'low'}"


def messages(seed: int) -> Iterator[Message]:
    """Every message of the small world that `seed` leads to, each once, without an end worth waiting for."""
    random, seen = Random(seed), set[str]()
    while True:
        message = _message(random)
        if message.text not in seen:
            seen.add(message.text)
            yield message


def instruction(message: Message) -> tuple[str, str]:
    """The question and the answer that fine-tuning teaches."""
    return f"{ASK} {message.text}", message.label


def general(message: Message, random: Random) -> tuple[str, str]:
    """One of the questions that the base model already answers, and its answer."""
    question, answer = random.choice(GENERAL)
    urgent = "Yes, it has high urgency." if message.urgent else "No, it has low urgency."
    facts = {"text": message.text, "greeting": message.greeting, "product": message.product, "urgent": urgent}
    return f"{question} {message.text}", answer.format_map(facts)


def _message(random: Random) -> Message:
    queue = random.choice(sorted(PROBLEMS))
    product = random.choice(PRODUCTS)
    urgent = random.random() < 0.5
    problem = random.choice(PROBLEMS[queue]).format(product)
    closing = random.choice(URGENT if urgent else CALM)
    sentences = [problem, closing] if random.random() < 0.7 else [closing, problem]
    greeting = random.choice(GREETINGS)
    text = f"{greeting}, {sentences[0]}, {sentences[1]}."
    return Message(text=text, greeting=greeting, queue=queue, product=product, urgent=urgent)
