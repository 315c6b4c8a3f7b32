"""What computes layers in training, where there is more than one way: chosen once per process.

Values differ by rounding and, under dropout, by the masks drawn; the harness names the choice in a run's
identity. Imports nothing, so that commands can name the choices without loading torch.
"""

from typing import Literal

ARCHITECTURES = ("BertModel", "RobertaModel", "XLMRobertaModel")
"""Classes of transformers whose layers are computed in this room; others run their own forward pass."""

Library = Literal["onednn", "torch"]
"""What multiplies matrices on a CPU: oneDNN, or what torch calls by itself (MKL on x86)."""

GpuLayers = Literal["padded", "varlen", "compiled"]
"""How a GPU computes layers: attention in padded rows, attention in rows of their own lengths, or padded rows
and the layer compiled by torch.compile."""

_library: Library = "onednn"
_gpu_layers: GpuLayers = "padded"


def training_products() -> Library:
    """Returns the library that multiplies in passes with gradients."""
    return _library


def use_for_training(library: Library) -> None:
    """Chooses the library that multiplies in passes with gradients."""
    global _library
    _library = library


def layers_on(device_type: str) -> GpuLayers:
    """Returns how layers are computed on a kind of device; a CPU keeps to padded rows."""
    return "padded" if device_type == "cpu" else _gpu_layers


def use_on_gpu(layers: GpuLayers) -> None:
    """Chooses how a GPU computes layers."""
    global _gpu_layers
    _gpu_layers = layers
