"""Backbone folders, from which training starts."""

import shutil

from harness.data.corpora import read_corpus
from harness.models.read import reading
from harness.stages.inputs import StageInputs
from methods.core.folders import cut_layers, load_encoder
from methods.core.saving import save_backbone, save_encoder
from methods.core.words import centred, load_word_average, word_transformer


def run(inputs: StageInputs) -> None:
    """Writes a copy of the model `origin`, its first `layers` layers, or a BERT over its word vectors.

    folders: origin, and centre if the mean word vector of a corpus is subtracted. The entry's shape has the
    settings of `methods.core.words.word_transformer`.
    Errors: InputError if the origin lacks word vectors, cannot be cut or does not fit the shape.
    """
    entry, origin = inputs.entry, inputs.folders["origin"]
    with reading(origin):
        if entry.shape is not None:
            words, shape = load_word_average(origin), entry.shape.model_dump()
            if "centre" in inputs.folders:
                texts = (row.text for row in read_corpus(inputs.folders["centre"]))
                words = centred(words, texts, vocabulary=shape["vocabulary"])
            save_encoder(word_transformer(words, **shape), inputs.out)
        elif entry.layers is not None:
            save_backbone(cut_layers(load_encoder(origin, pooling="mean"), entry.layers), inputs.out)
        else:
            shutil.copytree(origin, inputs.out, dirs_exist_ok=True)
