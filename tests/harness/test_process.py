"""The environment of a process is set before NumPy and torch load, and says which arithmetic is in effect."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import MagicMock

import pytest

from harness import process
from harness.errors import InputError
from harness.process import (
    DECIDED,
    PASSIVE,
    PORTABLE,
    REPLACED,
    RestartNeeded,
    compute_with,
    device_for,
    in_effect,
    prepare,
    set_native,
    set_portable,
)

CODE = """
import json, os, sys
class Seen:
    def find_spec(self, name, path=None, target=None):
        if name in ("torch", "numpy"):
            print(json.dumps(dict(os.environ)), flush=True)
            os._exit(0)
sys.meta_path.insert(0, Seen())
from harness.cli import main
sys.exit(main(sys.argv[1:]))
"""
"""Prints the variables at the moment at which NumPy or torch would be imported, and ends there."""


@pytest.fixture
def nothing_loaded(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A process in which neither library has loaded, with no variables."""
    for name in ("torch", "numpy"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    before = dict(os.environ)
    os.environ.clear()
    yield
    os.environ.clear()
    os.environ.update(before)


def seen_by_libraries(*words: str, **settings: str) -> dict[str, str]:
    plain = {name: value for name, value in os.environ.items() if name not in (*PASSIVE, *PORTABLE, REPLACED)}
    with tempfile.TemporaryDirectory() as model:
        (Path(model) / "config.json").write_text("{}")
        command = [sys.executable, "-c", CODE, *(model if word == "MODEL" else word for word in words)]
        done = subprocess.run(command, env={**plain, **settings}, capture_output=True, text=True, check=True)
    result: dict[str, str] = json.loads(done.stdout)
    return result


@pytest.mark.parametrize(
    "words",
    [
        ["check"],
        ["compare", "simcse-small", "pcl-small", "--no-pairs"],
        ["evaluate", "MODEL", "--arithmetic", "portable"],
    ],
)
def test_a_command_is_portable_before_the_libraries_load(words: list[str]) -> None:
    seen = seen_by_libraries(*words, OMP_NUM_THREADS="4")
    assert seen.items() >= (PORTABLE | PASSIVE).items()


@pytest.mark.parametrize("words", [["evaluate", "MODEL"], ["evaluate", "MODEL", "--arithmetic", "native"]])
def test_a_model_of_a_users_own_is_scored_with_the_machines_fastest_arithmetic(words: list[str]) -> None:
    seen = seen_by_libraries(*words, OMP_NUM_THREADS="4", MKL_CBWR="AVX2")
    assert not (PORTABLE.keys() - {"OMP_NUM_THREADS", "MKL_CBWR"}) & seen.keys()
    assert (seen["OMP_NUM_THREADS"], seen["MKL_CBWR"]) == ("4", "AVX2")
    assert REPLACED not in seen


@pytest.mark.parametrize("run", ["portable", "native"])
def test_a_run_is_trained_with_the_arithmetic_of_its_plan(run: str) -> None:
    code = CODE.replace(
        "from harness.cli import main",
        f"""
from harness.plan import params_file
from types import SimpleNamespace
run = SimpleNamespace(arithmetic={run!r})
params_file.read_params = lambda *a: SimpleNamespace(providers=[], run=lambda key: run)
from harness.cli import main""",
    )
    plain = {name: value for name, value in os.environ.items() if name not in (*PORTABLE, REPLACED)}
    words = [sys.executable, "-c", code, "stage", "train", "a__b__s0", "--out", "x"]
    done = subprocess.run(words, env=plain, capture_output=True, text=True, check=True)
    pinned = json.loads(done.stdout).items() >= PORTABLE.items()
    assert pinned == (run == "portable")


@pytest.mark.parametrize("before", [{"OMP_NUM_THREADS": "7", "OTHER": "x"}, PORTABLE])
def test_replaced_variables_come_back_and_those_that_a_person_set_stay(before: dict[str, str]) -> None:
    changed = dict(before)
    set_portable(changed)
    assert changed.items() >= PORTABLE.items()
    set_portable(changed)  # twice keeps the first values
    set_native(changed)
    assert changed == before


@pytest.mark.usefixtures("nothing_loaded")
def test_one_missing_variable_makes_arithmetic_native() -> None:
    prepare()
    assert in_effect() == "portable"
    for name, value in PORTABLE.items():
        os.environ[name] = value + "x"
        assert in_effect() == "native"
        os.environ[name] = value


@pytest.mark.usefixtures("nothing_loaded")
@pytest.mark.parametrize("name", PASSIVE)
def test_who_sets_how_threads_wait_decides(name: str) -> None:
    os.environ[name] = "1"
    prepare()
    assert {key: os.environ[key] for key in PASSIVE if key in os.environ} == {name: "1"}


@pytest.mark.usefixtures("nothing_loaded")
@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_after_a_library_has_loaded_no_variable_is_set(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, library, object())  # type: ignore[arg-type]
    before = dict(os.environ)
    prepare()
    assert os.environ == before
    with pytest.raises(InputError, match="before NumPy and torch load"):
        compute_with("portable")
    compute_with("native")  # asks for nothing
    monkeypatch.setattr(process, "_restarts", True)
    with pytest.raises(RestartNeeded) as needed:
        compute_with("portable")
    assert needed.value.environment.items() >= PORTABLE.items()
    assert os.environ == before


@pytest.mark.usefixtures("nothing_loaded")
def test_a_worker_that_has_loaded_portably_starts_again_for_a_native_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    os.environ["OMP_NUM_THREADS"] = "3"
    prepare()
    monkeypatch.setitem(sys.modules, "torch", object())  # type: ignore[arg-type]
    monkeypatch.setattr(process, "_restarts", True)
    with pytest.raises(RestartNeeded) as needed:
        compute_with("native")
    assert needed.value.environment["OMP_NUM_THREADS"] == "3"
    assert not (PORTABLE.keys() - {"OMP_NUM_THREADS"}) & needed.value.environment.keys()


def test_portable_runs_use_the_cpu_and_refuse_a_gpu() -> None:
    assert device_for("portable", "auto") == "cpu"
    assert device_for("native", "auto") == "auto"
    with pytest.raises(InputError, match="portable arithmetic runs on the CPU"):
        device_for("portable", "cuda")


FREES = """
import resource, sys
from harness.process import keep_freed_memory
if "keep" in sys.argv:
    keep_freed_memory()
for turn in range(6):
    if turn == 1:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    blocks = [bytearray(b"1") * (20 * 2**20) for _ in range(5)]
    del blocks
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""
"""Prints how many pages five turns asked for of 25,600 each, after a first one."""


def numbers(program: str, *words: str) -> list[float]:
    """Returns the numbers that a program prints in a separate process, with default settings of glibc."""
    plain = {name: value for name, value in os.environ.items() if name not in DECIDED}
    command = [sys.executable, "-c", program, *words]
    done = subprocess.run(command, env=plain, capture_output=True, text=True, check=True)
    return [float(number) for number in done.stdout.split()]


@pytest.mark.skipif("glibc" not in os.confstr("CS_GNU_LIBC_VERSION"), reason="glibc's settings")
def test_memory_that_was_freed_is_used_again() -> None:
    assert numbers(FREES)[0] > 100  # of 4 KiB more than 100,000
    assert numbers(FREES, "keep")[0] < 20


@pytest.mark.parametrize("name", DECIDED)
def test_a_person_who_sets_a_variable_of_the_allocator_decides(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without it the allocator is asked for, with it never."""
    asked = MagicMock()
    monkeypatch.setattr(process.ctypes, "CDLL", asked)
    for other in DECIDED:
        monkeypatch.delenv(other, raising=False)
    process.keep_freed_memory()
    assert asked.called
    asked.reset_mock()
    monkeypatch.setenv(name, "")
    process.keep_freed_memory()
    assert not asked.called


@pytest.fixture
def a_gpu(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Lets torch report a GPU with the settings of speed, and gives its own back afterwards."""
    import torch

    properties = SimpleNamespace(name="NVIDIA A10", major=8, minor=6)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "current_device", lambda: 0)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda device: properties)
    monkeypatch.setattr(torch.version, "cuda", "12.8")
    monkeypatch.setattr(torch.backends.cudnn, "version", lambda: 91002)
    monkeypatch.setattr(torch.backends.cudnn, "benchmark", True)
    switches = [torch.backends.cudnn, torch.backends.cuda.matmul]
    before = [switch.allow_tf32 for switch in switches]
    for switch in switches:
        switch.allow_tf32 = True
    monkeypatch.setenv("CUBLAS_WORKSPACE_CONFIG", "")
    monkeypatch.delenv("CUBLAS_WORKSPACE_CONFIG")
    yield
    torch.use_deterministic_algorithms(False)
    for switch, allowed in zip(switches, before, strict=True):
        switch.allow_tf32 = allowed


@pytest.mark.parametrize("wanted", ["cpu", "cuda", "auto"])
@pytest.mark.usefixtures("a_gpu")
def test_on_a_gpu_operators_are_deterministic_and_products_are_not_rounded_to_tf32(wanted: str) -> None:
    import torch

    on_gpu = process.resolve_device(wanted) == "cuda"
    assert on_gpu == (wanted != "cpu")
    assert torch.are_deterministic_algorithms_enabled() == on_gpu
    assert os.environ.get("CUBLAS_WORKSPACE_CONFIG") == (":4096:8" if on_gpu else None)
    assert torch.backends.cuda.matmul.allow_tf32 == torch.backends.cudnn.allow_tf32 == (not on_gpu)
    assert torch.backends.cudnn.benchmark == (not on_gpu)


@pytest.mark.usefixtures("a_gpu")
def test_a_users_workspace_of_cublas_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    """The other one with which cuBLAS is deterministic takes less memory."""
    monkeypatch.setenv("CUBLAS_WORKSPACE_CONFIG", ":16:8")
    assert process.resolve_device("cuda") == "cuda"
    assert os.environ["CUBLAS_WORKSPACE_CONFIG"] == ":16:8"


@pytest.mark.parametrize("available", [True, False])
def test_auto_takes_a_gpu_if_available_and_cuda_requires_one(
    available: bool, a_gpu: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch

    monkeypatch.setattr(torch.cuda, "is_available", lambda: available)
    assert process.resolve_device("auto") == ("cuda" if available else "cpu")
    assert process.resolve_device("cpu") == "cpu"
    with pytest.raises(InputError, match="'mps' is not known, expected auto, cpu, cuda"):
        process.resolve_device("mps")
    if not available:
        with pytest.raises(InputError, match="no CUDA device"):
            process.resolve_device("cuda")


@pytest.mark.usefixtures("a_gpu")
def test_a_result_names_the_gpu_and_its_software(monkeypatch: pytest.MonkeyPatch) -> None:
    printed = SimpleNamespace(stdout="570.86.15\n570.86.15\n")
    monkeypatch.setattr(subprocess, "run", lambda command, **_: printed)
    assert process.gpu_versions("cpu") == {}
    assert process.gpu_versions("cuda") == {
        "gpu": "NVIDIA A10",
        "compute capability": "8.6",
        "driver": "570.86.15",
        "CUDA": "12.8",
        "cuDNN": "91002",
    }


@pytest.mark.parametrize("bars", [True, False])
@pytest.mark.parametrize("end", [None, InputError, KeyboardInterrupt])
def test_the_users_settings_of_transformers_are_restored_after_any_end(
    end: type[BaseException] | None, bars: bool
) -> None:
    from transformers.utils import logging

    def block() -> None:
        with process.quietly():
            assert not logging.is_progress_bar_enabled()
            if end:
                raise end("ended")

    before = logging.get_verbosity(), logging.is_progress_bar_enabled()
    try:
        logging.set_verbosity(logging.INFO)
        (logging.enable_progress_bar if bars else logging.disable_progress_bar)()
        with pytest.raises(end) if end else nullcontext():
            block()
        assert (logging.get_verbosity(), logging.is_progress_bar_enabled()) == (logging.INFO, bars)
    finally:
        logging.set_verbosity(before[0])
        (logging.enable_progress_bar if before[1] else logging.disable_progress_bar)()


def test_draws_while_a_model_is_loaded_do_not_move_the_random_state() -> None:
    import torch

    before = torch.get_rng_state()
    with process.quietly():
        torch.rand(3)
        assert not torch.equal(before, torch.get_rng_state())
    assert torch.equal(before, torch.get_rng_state())


@pytest.mark.parametrize(
    ("machine", "told"), [("x86_64", None), ("AMD64", None), ("aarch64", "aarch64: bits differ from x86-64")]
)
def test_both_names_of_x86_64_are_portable_and_another_processor_is_named(
    machine: str, told: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Windows says AMD64. The processor has AVX2."""
    import numpy

    features = {"SIMD Extensions": {"found": ["X86_V3"]}}
    monkeypatch.setattr(numpy, "show_config", lambda mode: features)
    monkeypatch.setattr(process.platform, "machine", lambda: machine)
    line = process.limitation()
    assert line is None if told is None else str(line).startswith(told)
