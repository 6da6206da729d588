"""Which rows are held out when the person gave none to evaluate on.

A row's prompt decides alone: the print of it, as a share of the largest, lies below the wanted share or
not. So a row stays where it is when others are added, removed or reordered, and rows with the same prompt
stay together. Of a set so small that none is chosen, those with the smallest prints are taken.
"""

from __future__ import annotations

from array import array

from .sameness import BITS


def held_out(prompts: array[int], share: float) -> bytearray:
    """One byte a row, 1 for those that are held out."""
    if share <= 0 or len(set(prompts)) < 2:
        return bytearray(len(prompts))
    limit = int(share * (1 << BITS))
    chosen = bytearray(prompt < limit for prompt in prompts)
    if not any(chosen):
        least = min(prompts)
        chosen = bytearray(prompt == least for prompt in prompts)
    elif all(chosen):
        most = max(prompts)
        chosen = bytearray(prompt != most for prompt in prompts)
    return chosen
