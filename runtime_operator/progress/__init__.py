"""The endpoint that trainers post their progress to; who may post, and where it is kept, is plugged in."""

from .answer import Answer, Keeper, answer
from .server import serve

__all__ = ["Answer", "Keeper", "answer", "serve"]
