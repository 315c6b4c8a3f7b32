"""Sizes, operations, hours and shares of a GPU worked by hand; a measured GPU replaces the assumed one."""

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from harness.data.sources import SOURCES
from harness.io.files import write_json
from harness.plan.entries import Params
from harness.plan.estimate import CONTEXT, Estimate, cores_here, duration, hours_at_once, lines_of, packing
from harness.plan.hours import (
    LINE_BYTES,
    BackboneShape,
    ComparedPrecisions,
    GuessedGpu,
    KnownHours,
    StepTime,
    read_hours,
)
from harness.plan.params_file import read_params
from harness.plan.recipes import Parent, load_recipes
from harness.plan.resolve import resolve

ROOT = Path(__file__).parents[3]
TINY = BackboneShape(layers=2, width=8, inner=16, vocabulary=10, positions=4)
COMPARED = ComparedPrecisions(steps="ten steps", machine="box", seconds={"fp32": 2.0, "bf16": 2.5})
GPU = GuessedGpu(name="gpu", operations_per_second=1.0e12, share=0.5, compared=COMPARED)


def row(**changes: Any) -> StepTime:
    base = {"device": "cpu", "machine": "box", "threads": 1, "system": "simcse", "method": "simcse"}
    base |= {
        "backbone": "tiny",
        "batch": 4,
        "length": 32,
        "precision": "fp32",
        "seconds": 2.0,
        "command": "c",
    }
    return StepTime.model_validate({**base, **changes})


def times(*rows: StepTime, **shapes: BackboneShape) -> KnownHours:
    return KnownHours(shapes={"tiny": TINY, **shapes}, gpu=GPU, measured=list(rows))


def test_parameters_of_a_shape_by_hand() -> None:
    """Embeddings (10 + 4) 8 + types 16 + norm 16 = 144; a layer: 4 (64 + 8) + 2 * 128 + 16 + 8 + 32 = 600."""
    assert TINY.parameters == 144 + 2 * 600


def test_bert_base_has_the_parameters_of_its_checkpoint_without_the_pooler() -> None:
    """The checkpoint has 109,482,240, of which the pooler is 768 * 768 + 768 = 590,592."""
    assert read_hours(ROOT / "leaderboards/hours.yaml").shapes["bert-base-uncased"].parameters == 108_891_648


def test_operations_of_a_forward_pass_by_hand() -> None:
    """A token and layer: weights 4 * 64 + 2 * 128 = 512, attention 2 * 3 * 8 = 48; twice that is 1,120."""
    assert TINY.forward(5, 3) == 5 * 3 * 2 * 1120


def test_a_step_costs_simcses_time_times_the_measured_ratio() -> None:
    run = some_params().runs["a__minilm-l2__s0"].model_copy(update={"method": "pcl", "id": "pcl-k1"})
    known = times(
        row(), row(method="pcl", system="pcl", seconds=10.0), row(method="pcl", system="pcl", batch=9)
    )
    assert known.relative(run, "cpu") == 5.0
    measured = times(*known.measured, row(method="pcl", system="pcl-k1", seconds=3.0))
    assert measured.relative(run, "cpu") == 1.5
    assert times(row()).relative(run, "cpu") is None


def test_a_rows_own_machine_batch_and_length_are_its_baseline() -> None:
    run = some_params().runs["a__minilm-l2__s0"].model_copy(update={"method": "pcl"})
    gpu = {"device": "cuda", "machine": "gpu"}
    known = times(
        row(),
        row(method="pcl", system="pcl", seconds=8.0),
        row(**gpu, seconds=0.1),
        row(**gpu, method="pcl", system="pcl", seconds=0.3),
    )
    assert known.relative(run, "cpu") == 4.0
    assert known.relative(run, "cuda") == pytest.approx(3.0)
    measured = times(*known.measured, row(**gpu, method="pcl", system=run.id, seconds=0.2))
    assert measured.relative(run, "cpu") == pytest.approx(2.0)


def test_without_a_measured_gpu_the_rate_is_the_gpus_peak_times_the_share() -> None:
    """Another precision is promised no gain, and the words give the times that say so."""
    rate, other = (times(row()).rate("cuda", TINY, precision) for precision in ("fp32", "bf16"))
    assert rate.operations == other.operations == 0.5e12
    assert rate.source == "a guess, 50% of the 1 TFLOP/s in fp32 of one gpu"
    assert other.source == (
        f"{rate.source}; bf16 counts like fp32: ten steps took 2 s in fp32 and 2.5 s in bf16 on one box"
    )


def test_core_hours_of_another_precision_say_in_which_one_steps_were_measured() -> None:
    assert times(row()).rate("cpu", TINY, "bf16") == times(row()).rate("cpu", TINY, "fp32")
    assert times(row()).rate("cpu", TINY, "bf16").source == "as measured in fp32 on box, threads: 1"


def test_a_measured_gpu_is_used_instead_of_the_estimate_in_its_precision_only() -> None:
    """A SimCSE step of 4 is 3 passes over 8 sentences of 32: 3 * 8 * 32 * 2 * 2 * (512 + 512) operations."""
    known = times(row(), row(device="cuda", machine="gpu", seconds=0.5))
    rate = known.rate("cuda", TINY, "fp32")
    assert rate.operations == 3 * 8 * 32 * 4 * 1024 / 0.5
    assert rate.source == "as measured in fp32 on gpu, threads: 1"
    assert "a guess" in known.rate("cuda", TINY, "bf16").source
    assert known.gpu_name == "gpu"


def test_the_rate_is_from_the_backbone_nearest_in_size() -> None:
    large = TINY.model_copy(update={"layers": 64})
    known = times(row(), row(backbone="large", seconds=4.0), large=large)
    assert known.rate("cpu", TINY, "fp32").operations == 3 * TINY.forward(8, 32) / 2.0
    near = TINY.model_copy(update={"layers": 40})
    assert known.rate("cpu", near, "fp32").operations == 3 * large.forward(8, 32) / 4.0


@pytest.mark.parametrize("order", [1, -1])
def test_a_measurement_of_the_system_goes_before_its_method_and_the_device_before_others(order: int) -> None:
    baselines = [row(device=device, seconds=1.0) for device in ("cpu", "cuda")]
    run: Any = SimpleNamespace(id="mine", method="pcl")

    def relative(*measured: tuple[str, str, float]) -> float | None:
        rows = [row(device=d, system=s, method="pcl", seconds=seconds) for d, s, seconds in measured]
        return times(*baselines, *rows[::order]).relative(run, "cuda")

    own, other = ("cpu", "mine", 2.0), ("cuda", "pcl", 3.0)
    assert relative(own, other) == 2.0
    assert relative(own, other, ("cuda", "mine", 5.0)) == 5.0
    assert relative(other, ("cpu", "pcl", 4.0)) == 3.0
    assert relative(("cpu", "pcl", 4.0)) == 4.0


def some_params(method: str = "simcse", parent: Parent | None = None, **train: Any) -> Params:
    """The plan of two seeds on a tenth of the small corpus, two epochs of batches of 100."""
    small = load_recipes(ROOT / "recipes")["small"]
    entry = small.systems["simcse-small"]
    length = {"steps": None, "epochs": 2, "batch_size": 100, "drop_last": False, "eval_every": 10}
    changes = {"id": "a", "method": method, "backbones": ["minilm-l2"], "seeds": [0, 1], "parent": parent}
    changes |= {"corpus_share": 0.1, "tasks": ["STSB-dev"], "weights": "both"}
    changes["train"] = {**entry.train, **length, **train}
    recipe = small.model_copy(update={"systems": {"a": entry.model_copy(update=changes)}})
    return resolve({"small": recipe}, ["small"], folder=ROOT / "recipes")


def estimate(params: Params, *rows: StepTime) -> Estimate:
    """An estimate with a MiniLM of the tiny shape, cut to two layers by the recipe."""
    deep = TINY.model_copy(update={"layers": 6})
    return Estimate(params, times(*(rows or [row()]), **{"minilm-l6": deep}))


def test_hours_of_a_run_by_hand() -> None:
    """wiki-small has 15,779 sentences, a tenth of them 1,578: 16 steps of 100 an epoch, 32 in all.

    The cut backbone has the tiny shape. Training: 32 steps of 3 * 200 sentences of 32 pieces; selection:
    32 // 10 + 1 = 4 times 3,000 sentences of 16; evaluation: STS-B's files of 5,749, 1,500 and 1,379 lines,
    two sentences each, for two sets of weights. The measured CPU step of 4 took 2 s.
    """
    params = some_params()
    estimated = estimate(params)
    run = params.runs["a__minilm-l2__s0"]
    assert estimated.steps(run) == 32
    training = 32 * 3 * 200 * 32 * 4 * (512 + 512)
    sentences = 4 * 3000 + 2 * 2 * (5749 + 1500 + 1379)
    scored = sentences * 16 * 4 * (512 + 256)
    rate = 3 * 8 * 32 * 4 * 1024 / 2.0
    cost = estimated.run(run)
    assert cost is not None
    assert cost.cpu_hours == pytest.approx((training + scored) / rate / 3600)
    assert cost.gpu_hours == pytest.approx((training + scored) / 0.5e12 / 3600)
    assert cost.disk == 2 * 1344 * 4 + 2 * (5749 + 1500 + 1379) * 8 * 2


def test_an_untrained_run_is_encoded_once_and_kept_once() -> None:
    params = some_params(steps=0, epochs=None)
    cost = estimate(params).run(params.runs["a__minilm-l2__s0"])
    assert cost is not None
    scored = (3000 + 2 * (5749 + 1500 + 1379)) * 16 * 4 * (512 + 256)
    assert cost.gpu_hours == pytest.approx(scored / 0.5e12 / 3600)
    assert cost.disk == 1344 * 4 + 2 * (5749 + 1500 + 1379) * 8 * 2


def test_a_backbone_of_unknown_size_and_a_method_never_measured_have_no_estimate() -> None:
    params = some_params()
    run = params.runs["a__minilm-l2__s0"]
    assert Estimate(params, times(row())).run(run) is None
    assert estimate(params).run(run.model_copy(update={"method": "pcl"})) is None


def test_teachers_are_encoded_once_for_all_seeds_and_kept_in_fp32() -> None:
    params = some_params("distill", Parent(teacher="minilm-l6"))
    assert len(params.runs) == 2
    cost = estimate(params).teachers()
    assert cost is not None
    assert cost.disk == 15_779 * 8 * 4
    assert cost.gpu_hours == pytest.approx(15_779 * 32 * 2 * 6 * 1024 / 0.5e12 / 3600)


def test_a_teacher_reads_every_text_of_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten sentences with a paraphrase each: twenty vectors of width 8."""
    monkeypatch.setitem(cast(Any, SOURCES), "pairs", SimpleNamespace(rows={"a.tsv": 10}, files=("a.tsv",)))
    params = some_params("distill", Parent(teacher="minilm-l6"))
    ((name, teacher),) = params.teachers.items()
    of_pairs = {name: teacher.model_copy(update={"corpus": "data/pairs"})}
    cost = estimate(params.model_copy(update={"teachers": of_pairs})).teacher(name)
    assert cost is not None
    assert cost.disk == 20 * 8 * 4
    assert cost.gpu_hours == pytest.approx(20 * 32 * 2 * 6 * 1024 / 0.5e12 / 3600)


def test_every_run_of_every_recipe_has_an_estimate() -> None:
    recipes = load_recipes(ROOT / "recipes")
    params = resolve(recipes, ["all", *(name for name in recipes)], seeds=1, folder=ROOT / "recipes")
    estimated = Estimate(params, read_hours(ROOT / "leaderboards/hours.yaml"))
    unknown = {run.id for run in params.runs.values() if estimated.run(run) is None}
    assert not unknown, "add the sizes to hours.yaml or run `python -m benchmarks.steps --write`"
    assert len(params.runs) > 100
    assert estimated.teachers() is not None


def test_a_share_of_a_corpus_counts_its_own_rows() -> None:
    params = read_params(ROOT / "params.yaml")
    entry = params.corpora["wiki-small-views"]
    whole = {"wiki-small-views": entry.model_copy(update={"rows": None})}
    for corpora, rows in ((params.corpora, 4096), (whole, 15_779)):
        estimated = Estimate(params.model_copy(update={"corpora": corpora}), read_hours())
        assert estimated.rows("corpora/wiki-small-views") == rows


def test_a_stated_time_more_than_twice_ours_or_less_than_half_of_it_is_explained() -> None:
    """Each estimate is for a seed of the recipes' setting; the file says why two times differ that much."""
    recipes, times = load_recipes(), read_hours(ROOT / "leaderboards/hours.yaml")
    for stated in times.stated:
        known = [name for name, recipe in recipes.items() if stated.system in recipe.systems]
        params = resolve(recipes, [f"{known[0]}/{stated.system}"], seeds=1, backbones=[stated.backbone])
        (run,) = (run for run in params.runs.values() if run.id == stated.system)
        cost = Estimate(params, times).run(run)
        assert cost is not None
        assert stated.note or 0.5 <= cost.gpu_hours / stated.gpu_hours <= 2.0, stated


GIB = 2**30


def test_runs_share_a_gpu_as_the_largest_of_them_allows(tmp_path: Path) -> None:
    """Of 80 GiB 72 are usable: 3 runs of 24 GiB with their context, 9 of 8 GiB; the larger decides."""
    for key, peak in {"large": 24 * GIB, "small": 8 * GIB}.items():
        write_json(tmp_path / f"{key}.train.json", {"peak_memory": peak - CONTEXT, "card_memory": 80 * GIB})
    write_json(tmp_path / "here.train.json", {"train_seconds": 1.0})
    line = "runs a GPU: 3, by the largest peak of memory measured; --gpus-per-run 0.33"
    assert packing(["large", "small", "here", "absent"], tmp_path) == [line]
    assert packing(["small"], tmp_path)[0].startswith("runs a GPU: 9, ")
    assert packing(["absent"], tmp_path) == []


def test_side_by_side_takes_the_sum_over_the_slots_or_the_longest() -> None:
    assert hours_at_once([1.0] * 6, 2) == 3
    assert hours_at_once([3.0, 1.0, 1.0], 2) == 3
    assert hours_at_once([], 2) == 0


def test_the_cores_are_those_that_this_process_may_use_and_not_all_of_the_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A container or a job of Slurm gives a process some of the machine's cores."""
    monkeypatch.setattr(os, "cpu_count", lambda: 64)
    for usable in ({3}, {0, 5, 9}):
        monkeypatch.setattr(os, "sched_getaffinity", lambda process, usable=usable: usable)
        assert cores_here() == len(usable)


def test_each_run_on_a_gpu_takes_a_context_and_its_peak(tmp_path: Path) -> None:
    """Nine tenths of 10 GiB are 9: three runs of 3 GiB, but of 3 GiB and a context of 600 MiB only two."""
    write_json(tmp_path / "a.train.json", {"peak_memory": 3 * 2**30, "card_memory": 10 * 2**30})
    (line,) = packing(["a"], tmp_path)
    assert line.startswith("runs a GPU: 2,")


@pytest.mark.parametrize(
    ("fitting", "share"),
    [
        *[(1, "1"), (2, "0.5"), (3, "0.33"), (6, "0.16"), (7, "0.14"), (13, "0.076"), (27, "0.037")],
        *[(99, "0.0101"), (100, "0.01"), (101, "0.0099"), (115, "0.00869")],
    ],
)
def test_the_share_of_a_run_is_rounded_down_so_that_all_of_them_fit_and_no_more(
    fitting: int, share: str, tmp_path: Path
) -> None:
    """Six sixths of 0.17 would be more than one GPU, so the sixth run would wait; of 0.07, 14 would fit."""
    peak = int(0.9 * 80 * GIB / fitting) - CONTEXT
    write_json(tmp_path / "a.train.json", {"peak_memory": peak, "card_memory": 80 * GIB})
    (line,) = packing(["a"], tmp_path)
    assert line.startswith(f"runs a GPU: {fitting}, ")
    assert line.endswith(f" --gpus-per-run {share}")
    write_json(tmp_path / "a.train.json", {"peak_memory": peak + 2**20, "card_memory": 80 * GIB})
    assert packing(["a"], tmp_path)[0].startswith(f"runs a GPU: {max(1, fitting - 1)}, ")


def test_the_steps_of_a_share_count_rounded_rows_and_incomplete_batches() -> None:
    """A tenth of 15,779 is 1,578 rows: so many steps of one row, and 15 whole batches of 100 and a part."""
    for batch, drop_last, per_epoch in ((1, False, 1578), (100, False, 16), (100, True, 15)):
        params = some_params(batch_size=batch, drop_last=drop_last)
        run = params.runs["a__minilm-l2__s0"]
        assert estimate(params).steps(run) == 2 * per_epoch


def test_a_corpus_has_the_texts_of_its_views_and_no_more_rows_than_its_origin() -> None:
    """wiki-small-views: a sentence and its views a row; NLI pairs are two texts, plain lines one."""
    params = read_params(ROOT / "params.yaml")
    entry = params.corpora["wiki-small-views"]
    assert estimate(params).texts("corpora/wiki-small-views") == 1 + len(entry.views)
    long = params.model_copy(
        update={"corpora": {"long": entry.model_copy(update={"rows": 10**6, "views": entry.views[:1]})}}
    )
    estimated = estimate(long)
    assert estimated.rows("corpora/long") == 15_779
    assert estimated.corpora().disk == 15_779 * 2 * LINE_BYTES
    assert estimated.texts("data/wiki-small") == 1


def test_the_disk_space_of_data_counts_every_line_and_weights_in_fp32(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A source of 10 lines and one file of unknown length, MiniLM and its copy, and its first two layers."""
    params = some_params().model_copy(update={"sources": ["texts", "minilm-l6"]})
    files = {"texts": {"a": 10, "b": None}, "minilm-l6": {}}
    for name, rows in files.items():
        monkeypatch.setitem(cast(Any, SOURCES), name, SimpleNamespace(rows=rows, files=("a.tsv",)))
    weights = 2 * TINY.model_copy(update={"layers": 6}).parameters + TINY.parameters
    assert estimate(params).data().disk == 4 * weights + 10 * LINE_BYTES
    assert lines_of("texts") == 10
    assert estimate(params).texts("data/texts") == 2


def test_the_hours_of_a_run_are_those_measured_in_its_precision() -> None:
    """A GPU took 0.5 s in fp32 and 0.125 s in bf16, so a run in bf16 takes a quarter."""
    params = some_params()
    run = params.runs["a__minilm-l2__s0"]
    half = run.model_copy(update={"train": {**run.train, "precision": "bf16"}})
    gpu = {"device": "cuda", "machine": "gpu"}
    rows = row(), row(**gpu, seconds=0.5), row(**gpu, seconds=0.125, precision="bf16")
    known = times(*rows, **estimate(params).times.shapes)
    slow, fast = (Estimate(params, known).run(each) for each in (run, half))
    assert slow is not None
    assert fast is not None
    assert slow.gpu_hours == pytest.approx(4 * fast.gpu_hours)


def test_one_teacher_of_unknown_size_leaves_the_cost_of_all_unknown() -> None:
    params = some_params("distill", Parent(teacher="minilm-l6"))
    (name, teacher), *_ = params.teachers.items()
    unknown = teacher.model_copy(update={"encoder": "backbones/unknown"})
    both = params.model_copy(update={"teachers": {name: teacher, "other": unknown}})
    assert estimate(both).teacher(name) is not None
    assert estimate(both).teacher("other") is None
    assert estimate(both).teachers() is None


def test_a_backbone_over_word_vectors_is_as_wide_as_its_copies_of_them() -> None:
    """Vectors of width 8, three times: 24 wide; its other sizes are those that its entry states."""
    params = read_params(ROOT / "params.yaml")
    (name, backbone), *_ = (
        (name, entry) for name, entry in params.backbones.items() if entry.shape is not None
    )
    assert backbone.shape is not None
    built = backbone.shape.model_copy(update={"copies": 3})
    three = params.model_copy(update={"backbones": {name: backbone.model_copy(update={"shape": built})}})
    known = times(row(), **{Path(backbone.origin).name: TINY})
    assert Estimate(three, known).shape(f"backbones/{name}") == BackboneShape(
        layers=built.layers,
        width=24,
        inner=built.inner,
        vocabulary=built.vocabulary,
        positions=built.positions,
    )


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.4, "0 s"), (89.9, "90 s"), (90, "2 min"), (3600, "60 min"),
        (5399, "90 min"), (5400, "1.5 h"), (36_000, "10.0 h"),
    ],
)  # fmt: skip
def test_a_duration_is_in_seconds_below_ninety_and_in_minutes_below_an_hour_and_a_half(
    seconds: float, words: str
) -> None:
    assert duration(seconds) == words
