"""Writing of backbone folders, from which training starts."""

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def write_backbone(
    origin: Path,
    layers: int | None,
    folder: Path,
    *,
    shape: Mapping[str, Any] | None = None,
    centre: Path | None = None,
) -> None:
    """Fills `folder` with a copy of the model `origin`, its first `layers` layers, or a model over its words.

    shape: the settings of `methods.core.words.word_transformer` if `origin` has word vectors. centre: the
    corpus whose mean word vector is subtracted.
    Errors: InputError if `origin` lacks word vectors, cannot be cut or does not fit the shape.
    """
    from harness.data.corpora import read_corpus
    from methods.core.folders import cut_layers, load_encoder
    from methods.core.saving import save_backbone, save_encoder
    from methods.core.words import centred, load_word_average, word_transformer

    if shape is not None:
        words = load_word_average(origin)
        if centre is not None:
            texts = (row.text for row in read_corpus(centre))
            words = centred(words, texts, vocabulary=shape["vocabulary"])
        save_encoder(word_transformer(words, **shape), folder)
    elif layers is not None:
        save_backbone(cut_layers(load_encoder(origin, pooling="mean"), layers), folder)
    else:
        shutil.copytree(origin, folder, dirs_exist_ok=True)
