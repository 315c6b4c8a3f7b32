"""The average of word vectors, a baseline row of every table."""

from methods.core.errors import InputError
from methods.core.method import Method, MethodConfig
from methods.core.networks import Networks
from methods.core.words import WordAverageEncoder


class Glove(Method):
    """Exports the mean of known words' vectors; its runs have zero steps."""

    word_vectors = "needed"

    def __init__(self, config: MethodConfig, networks: Networks) -> None:
        super().__init__(config, networks)
        if not isinstance(self.encoder, WordAverageEncoder):
            raise InputError(
                f"{networks.backbone} is a transformer; use a glove-6b backbone, or the method pooled"
            )
