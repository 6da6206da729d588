"""What the customers of a household shop write about, and in which words.

Every list is in two parts: what the training rows are made of, and what only held-out rows hold. A model
that does well on the second part has learnt the task and not the words.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Words:
    """The words that messages are made of; {} stands for what the ticket takes over."""

    products: tuple[str, ...]
    problems: tuple[str, ...]
    requests: tuple[str, ...]
    days: tuple[str, ...]


GREETINGS = ("Hello", "Hi", "Hi there", "Dear team", "Good morning", "Good evening")
ORDERS = (
    "The order number is {}.",
    "It was order {}.",
    "My order is {}.",
    "Order {}.",
    "You can find it under order {}.",
)
WISHES = (
    "I would like a {}.",
    "I am asking for a {}.",
    "Can I have a {}?",
    "I want a {}.",
    "Could you give me a {}?",
)
CALLS = (
    "You can call me on {}.",
    "Please call me on {}.",
    "I am at home on {}.",
    "{} is a good day to call me.",
)

TRAINING = Words(
    products=tuple(
        "lamp, kettle, toaster, hand blender, fan heater, kitchen radio, wall clock, camera, printer, "
        "keyboard, monitor, tablet, router, vacuum cleaner, stand mixer, oven, fridge, cordless drill, "
        "step ladder, lawn mower, tent, bicycle, helmet, coffee grinder, rice cooker, iron, sewing machine, "
        "desk chair, bookshelf, garden hose, phone charger, loudspeaker, microwave, dishwasher, hair dryer, "
        "water filter, sleeping bag, suitcase, door lock, smoke alarm".split(", ")
    ),
    problems=(
        "The {} has not arrived yet.",
        "The parcel with the {} went to the wrong address.",
        "The tracking of the {} has not moved for days.",
        "The driver left the {} out in the rain.",
        "Nobody came on the day the {} was promised.",
        "The courier says that the {} was delivered, but it is not here.",
        "The box of the {} arrived empty.",
        "The {} stopped working.",
        "The {} makes a strange noise.",
        "The {} does not switch on any more.",
        "A part of the {} broke off.",
        "Smoke came out of the {}.",
        "The {} gets far too hot.",
        "The {} leaks.",
        "The {} has a crack after one week.",
        "The {} turns itself off after a minute.",
        "I was charged twice for the {}.",
        "I paid for the {} and never got an invoice.",
        "The {} cost more than the price in your shop.",
        "The {} is the wrong size for me.",
        "I changed my mind about the {}.",
        "The {} does not look like the picture.",
        "I got the {} as a present and already have one.",
        "The {} is not what I ordered.",
    ),
    requests=tuple(
        "refund, repair, replacement, discount, receipt, spare part, return label, printed manual, "
        "longer cable, second key, larger size, copy of the invoice, cleaning brush, battery".split(", ")
    ),
    days=("Monday", "Tuesday", "Wednesday", "Thursday", "Friday"),
)

HELD_OUT = Words(
    products=tuple(
        "electric blanket, bread maker, juice press, floor lamp, wine cooler, garden chair, rain jacket, "
        "projector, baby monitor, air purifier, folding table, drum kit".split(", ")
    ),
    problems=(
        "My bank shows two payments for the {}.",
        "The {} should have come last week.",
        "Somebody else has signed for the {}.",
        "The {} broke as soon as we used it.",
        "The colour of the {} is wrong.",
        "Two parts of the {} are missing.",
    ),
    requests=("voucher", "pickup", "price list", "gift box"),
    days=("Saturday", "Sunday"),
)
