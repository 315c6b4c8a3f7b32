"""The folder of the normalisation is numbered by its place among the modules."""

import json
from pathlib import Path

import pytest
import torch

from methods.core.saving import save_encoder
from tests.support import tiny


@pytest.mark.parametrize(("dense", "folder"), [(False, "2_Normalize"), (True, "3_Normalize")])
def test_the_normalisation_is_the_third_module_or_the_fourth_after_a_dense_layer(
    dense: bool, folder: str, tmp_path: Path
) -> None:
    encoder = tiny.sentence_encoder(tiny.write_backbone(tmp_path / "bert"))
    encoder.normalize = True
    if dense:
        encoder.output = torch.nn.Linear(16, 4)
    save_encoder(encoder, tmp_path / "saved")
    last = json.loads((tmp_path / "saved/modules.json").read_text())[-1]
    assert (last["idx"], last["name"], last["path"]) == (2 + dense, str(2 + dense), folder)
    assert [path.name for path in (tmp_path / "saved").glob("*_Normalize")] == [folder]
