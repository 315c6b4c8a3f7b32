"""Supported settings of a sentence-transformers folder: each key with its accepted values.

A folder with any other module, key or value is computed by sentence-transformers. The lists follow its
release 6.2; a test compares them with the keys of the installed release.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from methods.core.errors import OtherWay
from methods.core.model_files import MODULES, folder_within, module_list, read_json
from methods.core.saving import ACTIVATIONS

Accepts = Callable[[Any], bool]

MODEL_FILE = "config_sentence_transformers.json"
TRANSFORMER_FILES = tuple(
    f"sentence_{name}_config.json"
    for name in ("bert", "roberta", "distilbert", "camembert", "albert", "xlm-roberta", "xlnet")
)
"""Files with the settings of the first module; the first one that exists counts."""

OTHER_FILES = ("adapter_config.json", "processor_config.json", "preprocessor_config.json")
"""Files next to the weights that change the network or the tokenisation."""

KINDS = ("Transformer", "Pooling", "Dense", "Normalize")
"""Supported module classes, in the order of a folder."""

POOLINGS = {"cls": "cls", "mean": "mean", "cls_token": "cls", "mean_tokens": "mean"}
"""Name of a pooling in a folder -> its name here."""

SENTENCE = "sentence_embedding"
TEXT_ALONE = {"text": {"method": "forward", "method_output_name": "last_hidden_state"}}


def _anything(value: Any) -> bool:
    return True


def _nothing(value: Any) -> bool:
    return not value


def _is(*values: Any) -> Accepts:
    return lambda value: any(type(value) is type(known) and value == known for known in values)


def _of(kind: type) -> Accepts:
    return lambda value: isinstance(value, kind)


def _length(value: Any) -> bool:
    return value is None or (type(value) is int and value > 2)


OPTIONS = ("model", "processor", "config", "tokenizer")
TRANSFORMER: dict[str, Accepts] = {
    "max_seq_length": _length,
    "do_lower_case": _nothing,
    "transformer_task": _is("feature-extraction"),
    "modality_config": _is(TEXT_ALONE),
    "module_output_name": _is("token_embeddings"),
    "tokenizer_name_or_path": _is(None),
    **dict.fromkeys(("unpad_inputs", "query_length", "document_length", "query_expansion"), _is(None)),
    **dict.fromkeys([f"{name}_{end}" for name in OPTIONS for end in ("args", "kwargs")], _nothing),
    "processing_kwargs": _nothing,
}
POOLING: dict[str, Accepts] = {
    **dict.fromkeys(("embedding_dimension", "word_embedding_dimension"), _of(int)),
    "pooling_mode": _is(*POOLINGS),
    **dict.fromkeys([f"pooling_mode_{name}" for name in POOLINGS if "_" in name], _of(bool)),
    **dict.fromkeys([f"pooling_mode_{name}" for name in ("max_tokens", "mean_sqrt_len_tokens")], _is(False)),
    **dict.fromkeys([f"pooling_mode_{name}" for name in ("weightedmean_tokens", "lasttoken")], _is(False)),
    "include_prompt": _of(bool),  # a default prompt is not supported here
}
DENSE: dict[str, Accepts] = {
    **dict.fromkeys(("in_features", "out_features"), _of(int)),
    "bias": _of(bool),
    "activation_function": _is(*ACTIVATIONS.values()),
    "module_input_name": _is(SENTENCE),
    "module_output_name": _is(None, SENTENCE),
    "use_residual": _is(False),
}
NORMALIZE: dict[str, Accepts] = {
    "module_input_name": _is(SENTENCE),
    "module_output_name": _is(None, SENTENCE),
}
MODEL: dict[str, Accepts] = {
    "__version__": _anything,
    "model_type": _is("SentenceTransformer"),
    "prompts": _anything,  # prompts that are not a default
    "default_prompt_name": _is(None),
    "similarity_fn_name": _anything,  # evaluations choose their own similarity
    "truncate_dim": _is(None),
    "requirements": _nothing,
}
MODULE: dict[str, Accepts] = {
    "idx": _anything,
    "name": _anything,
    "path": _anything,
    "type": _anything,
    "kwargs": _nothing,
}


class KnownSettings(NamedTuple):
    """Settings of a folder; `SentenceEncoder` applies them.

    weights: the folder of transformer and tokenizer. length: longest input in word pieces, None for the
    tokenizer's. dense: the folder of the output layer.
    """

    weights: Path
    pooling: str
    length: int | None
    dense: Path | None
    normalize: bool


def known_settings(folder: Path) -> KnownSettings:
    """Returns the settings of a sentence-transformers folder.

    Errors: OtherWay, which names the first unsupported module, key or value; InputError for a file that is
    not JSON or a module of another package.
    """
    modules = module_list(folder / MODULES)
    for module in modules:
        _check(folder / MODULES, module, MODULE)
    kinds = [module["type"].rsplit(".", 1)[-1] for module in modules]
    ordered = [kind for kind in KINDS if kind in kinds]
    if kinds != ordered or kinds[:2] != list(KINDS[:2]):
        raise OtherWay(f"{folder / MODULES}: modules {', '.join(kinds)}")
    places = {
        kind: folder_within(folder / MODULES, module["path"])
        for kind, module in zip(kinds, modules, strict=True)
    }
    if (folder / MODEL_FILE).is_file():
        _check(folder / MODEL_FILE, read_json(folder / MODEL_FILE), MODEL)
    weights = places["Transformer"]
    if "Normalize" in places and (places["Normalize"] / "config.json").is_file():
        _settings(places["Normalize"], NORMALIZE)
    if "Dense" in places:
        _settings(places["Dense"], DENSE)
    return KnownSettings(
        weights=weights,
        pooling=_pooling(places["Pooling"]),
        length=_transformer(weights).get("max_seq_length"),
        dense=places.get("Dense"),
        normalize="Normalize" in places,
    )


def stated_pooling(folder: Path) -> str | None:
    """Returns the pooling that a sentence-transformers folder states; None if it states none or several."""
    for module in module_list(folder / MODULES):
        if module["type"].endswith("Pooling"):
            path = folder_within(folder / MODULES, module["path"]) / "config.json"
            modes = _modes(read_json(path)) if path.is_file() else []
            return modes[0] if len(modes) == 1 else None
    return None


def check_other_files(weights: Path) -> None:
    """Raises OtherWay if a folder of weights has a file that changes the network or the tokenisation."""
    for name in OTHER_FILES:
        if (weights / name).is_file():
            raise OtherWay(f"{weights}: has {name}")


def _transformer(weights: Path) -> dict[str, Any]:
    for name in TRANSFORMER_FILES:
        if (weights / name).is_file():
            settings: dict[str, Any] = read_json(weights / name)
            _check(weights / name, settings, TRANSFORMER)
            if settings:
                return settings
    return {}


def _pooling(folder: Path) -> str:
    modes = _modes(_settings(folder, POOLING))
    if len(modes) != 1:
        raise OtherWay(f"{folder}: pools in {len(modes)} ways: {', '.join(modes)}")
    return modes[0]


def _modes(config: Mapping[str, Any]) -> list[str]:
    """Returns the active poolings under their names here; `mean` by default."""
    prefix = "pooling_mode_"
    if "pooling_mode" in config:
        stated = config["pooling_mode"]
        named = [stated] if isinstance(stated, str) else list(stated or ())
    else:
        named = [key.removeprefix(prefix) for key, on in config.items() if key.startswith(prefix) and on]
    return [POOLINGS.get(name, str(name)) for name in named] or ["mean"]


def _settings(folder: Path, accepted: Mapping[str, Accepts]) -> dict[str, Any]:
    path = folder / "config.json"
    if not path.is_file():
        raise OtherWay(f"{folder}: no config.json")
    settings: dict[str, Any] = read_json(path)
    _check(path, settings, accepted)
    return settings


def _check(path: Path, values: Mapping[str, Any], accepted: Mapping[str, Accepts]) -> None:
    for key, value in values.items():
        if key not in accepted or not accepted[key](value):
            raise OtherWay(f"{path}: {key} is {str(value)[:60]!r}")
