"""An instruction set to try fine-tuning with: a support desk's messages, and the tickets made of them.

`make_ticket_data(folder)` writes it, from nothing but this code and a fixed seed: there is nothing to
download and nobody's licence to mind. A small chat model does badly on it and learns it in minutes.
"""

from .writing import make_ticket_data

__all__ = ["make_ticket_data"]
