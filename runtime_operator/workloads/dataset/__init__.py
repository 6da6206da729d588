"""Check a dataset on a CPU before a GPU is held, and bring its rows into the form that training reads.

`check_dataset(CheckSettings(...))` is the whole of it; `load_rows(folder)` gives the rows of a dataset of any
format and shape; `python -m kfp_trainer.runtime_operator.workloads.dataset check` is the same as a command.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .check import check_dataset
    from .example import Example
    from .result import DatasetReport
    from .row_slice import RowSlice, parse_slice
    from .settings import CheckSettings
    from .slices import write_slice
    from .writing import load_rows

_HOME = {
    "CheckSettings": "settings",
    "DatasetReport": "result",
    "Example": "example",
    "RowSlice": "row_slice",
    "check_dataset": "check",
    "load_rows": "writing",
    "parse_slice": "row_slice",
    "write_slice": "slices",
}
__all__ = [
    "CheckSettings",
    "DatasetReport",
    "Example",
    "RowSlice",
    "check_dataset",
    "load_rows",
    "parse_slice",
    "write_slice",
]


def __getattr__(name: str) -> Any:
    """Import a name where it is used: the command's help needs none of the readers."""
    from importlib import import_module

    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_HOME[name]}", __name__), name)
