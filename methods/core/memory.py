"""The error message of a training that does not fit its GPU."""

from typing import Any

from methods.core.errors import InputError


def out_of_memory(step: int, batch_size: int, config: Any) -> InputError:
    """Returns the error of a training that ran out of memory, with the settings that determine its memory.

    step: the step that failed. config: of the method, with `max_length` in tokens and, if the method can
    recompute activations, the switch `recompute`.
    """
    remedy = "use a GPU with more memory"
    if getattr(config, "recompute", None) is False:
        remedy = f"set `recompute: true` (same numbers, more time), or {remedy}"
    return InputError(
        f"step {step}: out of GPU memory with batch {batch_size} and length {config.max_length}; {remedy}"
    )
