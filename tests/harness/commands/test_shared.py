"""What several commands share: folders of encoders, advice for missing folders, lists of names."""

from pathlib import Path

import pytest

from harness.commands import check_encoder_folder, maker_of, name_list, try_method
from harness.errors import InputError
from harness.plan.params_file import read_params

ROOT = Path(__file__).parents[3]
FILES = ("config.json", "modules.json", "sentbench.json", "adapter_config.json", "vectors.safetensors")
"""What each kind of encoder has: a Hugging Face folder, sentence-transformers, ours, an adapter, words."""


@pytest.mark.parametrize("file", FILES)
def test_a_folder_with_the_file_of_any_kind_of_encoder_is_one(file: str, tmp_path: Path) -> None:
    (tmp_path / file).mkdir()
    with pytest.raises(InputError, match=f"no encoder, expected one of the files .*{file}"):
        check_encoder_folder(tmp_path)
    (tmp_path / file).rmdir()
    (tmp_path / file).touch()
    check_encoder_folder(tmp_path)
    with pytest.raises(InputError, match=f"{file}: is a file, expected an encoder folder"):
        check_encoder_folder(tmp_path / file)


@pytest.mark.parametrize(
    ("folder", "stage", "known"),
    [
        ("data/{}", "data", lambda params: params.sources),
        ("backbones/{}", "backbone", lambda params: params.backbones),
        ("artefacts/{}", "train", lambda params: params.runs),
    ],
)
def test_a_missing_folder_of_the_plan_is_made_by_its_stage(
    folder: str, stage: str, known: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    name = next(iter(known(read_params())))  # type: ignore[operator]
    assert f"`dvc repro {stage}@{name}` makes it, and `make reproduce`" in maker_of(Path(folder.format(name)))
    advice = maker_of(Path(folder.format(f"{name}x")))
    assert advice.startswith(f"the plan has no '{name}x' (did you mean ")
    assert name in advice.partition("mean ")[2]
    assert advice.endswith("; correct the name")


def test_elsewhere_a_missing_folder_is_looked_for_among_its_neighbours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert "the plan of a checkout makes such folders" in maker_of(Path("artefacts/mine"))
    (tmp_path / "models/bert-base").mkdir(parents=True)
    (tmp_path / "models/bert-bass").touch()
    assert maker_of(Path("models/bert-bas")) == "check the path (did you mean bert-base?)"
    for name in ("recipes", "leaderboards"):
        (tmp_path / name).mkdir()
    assert maker_of(Path("artefacts/mine")) == "check the path"


def test_a_list_of_names_has_each_once_in_order_without_blanks() -> None:
    assert name_list(" sts,STSB , ,sts,a,,STSB") == ["sts", "STSB", "a"]
    assert name_list(" , ") == []


def test_a_folder_of_a_trial_is_new_empty_or_has_its_file(tmp_path: Path) -> None:
    try_method.check_out(tmp_path / "new", "own.py")
    try_method.check_out(tmp_path, "own.py")
    (tmp_path / "methods").mkdir()
    for name in ("other.py", "own.py/"):
        (tmp_path / "methods" / name).mkdir() if name[-1] == "/" else (tmp_path / "methods" / name).touch()
        with pytest.raises(InputError, match="contains other files"):
            try_method.check_out(tmp_path, "own.py")
    (tmp_path / "methods/own.py").rmdir()
    (tmp_path / "methods/own.py").touch()
    try_method.check_out(tmp_path, "own.py")
    with pytest.raises(InputError, match="is a file; name a folder with --out"):
        try_method.check_out(tmp_path / "methods/own.py", "own.py")
