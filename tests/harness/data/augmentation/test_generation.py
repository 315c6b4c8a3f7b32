"""Sequence-to-sequence augmentation with a tiny random Marian model."""

import shutil
from pathlib import Path
from typing import Any

import pytest
import torch

from harness.data.augmentation.models import Generator
from harness.data.augmentation.views import Generate
from harness.errors import InputError
from tests.harness.data.augmentation.tiny_models import write_marian
from tests.support import tiny

SETTINGS: dict[str, Any] = {
    "kind": "generate",
    "column": 0,
    "beams": None,
    "length_penalty": None,
    "max_input": 32,
    "max_new_tokens": 20,
    "longest_ratio": 3.0,
    "fallback_limit": 1.0,
    "batch_tokens": 64,
}
TEXTS = [row.text for row in tiny.rows(12)]


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    top = tmp_path_factory.mktemp("marian")
    return {ends: write_marian(top / ends, ends=ends) for ends in ("in time", "at once", "never")}


def generator(folder: Path, **changes: Any) -> Generator:
    return Generator(folder, Generate.model_validate({**SETTINGS, **changes}), device="cpu")


def test_batched_beam_search_equals_one_text_at_a_time(folders: dict[str, Path]) -> None:
    """The slow form: each text alone through the model's own generate, no padding anywhere."""
    made = generator(folders["in time"])
    actual = [augmented.text for augmented in made(range(12), TEXTS)]
    for text, augmented in zip(TEXTS, actual, strict=True):
        ids = torch.tensor([made.tokenizer(text)["input_ids"]])
        with torch.no_grad():
            alone = made.model.generate(input_ids=ids, max_new_tokens=20, num_beams=3, do_sample=False)
        assert augmented == made.tokenizer.decode(alone[0], skip_special_tokens=True)
    assert len(set(actual)) >= 6, "a model whose outputs are all alike would prove nothing"


def test_every_setting_of_a_view_reaches_the_model(
    folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each field changes the arguments of `generate` or its output; null is the folder's value."""
    asked: list[dict[str, str]] = []

    def observed(**changes: Any) -> list[object]:
        made = generator(folders["in time"], **changes)
        plain = made.model.generate
        asked.clear()

        def generate(**given: Any) -> Any:
            asked.append({key: str(value) for key, value in given.items()})
            return plain(**given)

        monkeypatch.setattr(made.model, "generate", generate)
        return [made(range(12), TEXTS), *asked]

    base = observed()
    changes = {"beams": 2, "length_penalty": 3.0, "max_input": 3, "max_new_tokens": 4, "batch_tokens": 16}
    for name, value in changes.items():
        assert observed(**{name: value}) != base, name
    elsewhere = {"kind", "column", "longest_ratio", "fallback_limit"}
    assert set(Generate.model_fields) == changes.keys() | elsewhere
    observed(beams=2, length_penalty=3.0)
    assert (asked[0]["num_beams"], asked[0]["length_penalty"]) == ("2", "3.0")


def test_empty_and_runaway_outputs_keep_the_text(folders: dict[str, Path]) -> None:
    for ends, outcome in (("at once", "empty"), ("never", "runaway")):
        augmentations = generator(folders[ends])(range(12), TEXTS)
        assert {augmented.outcome for augmented in augmentations} == {outcome}
        assert [augmented.text for augmented in augmentations] == TEXTS


def test_more_words_than_the_ratio_and_ten_run_away(folders: dict[str, Path], monkeypatch: Any) -> None:
    """Ratio 2 and a text of three words: 16 words pass, 17 do not."""
    made = generator(folders["in time"], longest_ratio=2.0)
    for words, outcome in ((16, "augmented"), (17, "runaway")):
        monkeypatch.setattr(made, "_generate", lambda batch, words=words: [("w " * words, True)] * len(batch))
        assert [augmented.outcome for augmented in made([0], ["the man runs"])] == [outcome]


def test_a_forced_end_does_not_count_as_the_models_end(folders: dict[str, Path]) -> None:
    made = generator(folders["never"])
    made.model.generation_config.forced_eos_token_id = made.tokenizer.eos_token_id
    assert {augmented.outcome for augmented in made(range(3), TEXTS[:3])} == {"runaway"}


def test_a_folder_of_another_model_or_with_its_tokenizer_is_refused(
    folders: dict[str, Path], tmp_path: Path
) -> None:
    bert = tiny.write_backbone(tmp_path / "bert")
    with pytest.raises(InputError, match=r"^[^\n]*a model that AutoModelForSeq2SeqLM reads[^\n]*$"):
        generator(bert)
    mixed = shutil.copytree(folders["in time"], tmp_path / "mixed")
    shutil.copy(bert / "tokenizer.json", mixed)
    with pytest.raises(InputError, match="expected the model's own tokenizer"):
        generator(mixed)
