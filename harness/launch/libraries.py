"""Importing this module, as the server of a launch does, loads the libraries that stages need.

It imports no module of this project: a stage that is forked from the server imports our code itself, as it
is in the files at that moment. The module must not start threads or a GPU.
"""

import gc
from contextlib import suppress
from importlib import import_module

LIBRARIES = (
    "numpy",
    "scipy.stats",
    "torch._dynamo",  # the optimiser loads it
    "transformers.modeling_utils",
    "transformers.models.auto.modeling_auto",
    "transformers.models.auto.tokenization_auto",
    "transformers.models.bert.modeling_bert",  # brings four hundred modules
    "transformers.models.bert.tokenization_bert",
)


def load_libraries() -> None:
    """Imports the libraries; errors are left to the stages, which report them."""
    with suppress(Exception):
        for name in LIBRARIES:
            import_module(name)
        # the first model would compile transformers' thousand patterns for renaming weights
        import_module("transformers.conversion_mapping").get_checkpoint_conversion_mapping("bert")
    # a stage's collector would write to the pages of these objects, and each stage would copy them
    gc.collect()
    gc.freeze()


load_libraries()
