"""The audit: measured effects of differences between paper and code."""

from functools import partial
from typing import Any

import pytest

from harness.io.declarations import LEADERBOARDS
from harness.plan.recipes import System, load_recipes
from harness.report.formats.readmes import INTRO
from harness.report.pages import audit as audit_page
from harness.report.pages.audit import CodeDeviation, MethodAudit, load_audits, measure
from harness.report.pages.content import Report
from harness.report.runs import RunDetail
from methods.registry import METHODS
from tests.harness.report.made_results import result
from tests.harness.report.shown import show

DIFFERENCE = CodeDeviation(
    about="loss", paper="one", code="another", ours="both", variants=["paper", "third"]
)
AUDIT = MethodAudit(method="m", title="Method", preset="released", differences=[DIFFERENCE])


def run(variant: str, seed: int, dev: float, *, method: str = "m", backbone: str = "b") -> RunDetail:
    labels = {"method": method, "variant": variant, "backbone": backbone}
    return RunDetail(result(f"{method}-{variant}", seed, {}, dev=dev, **labels))


def audited(*runs: RunDetail, **changes: Any) -> str:
    """Returns the page of the audit with these changes of its only difference."""
    difference = DIFFERENCE.model_copy(update=changes)
    audit = AUDIT.model_copy(update={"opposite": "opposite", "differences": [difference]})
    shown = {"audits": [audit], "measure": partial(measure, runs=runs), "conclusion": ""}
    return show(audit_page.PAGE, Report("T", "abc"), shown)


def test_effect_is_the_variant_minus_the_usual_reading_on_the_same_backbone() -> None:
    """72 and 74 against 70 and 71: 73 - 70.5 = +2.5; the run of another method does not count."""
    runs = [run("paper", 0, 0.72), run("paper", 1, 0.74), run("released", 0, 0.70), run("released", 1, 0.71)]
    noise = [run("paper", 0, 0.99, method="n"), run("paper", 0, 0.9, backbone="c"), run("other", 0, 0.1)]
    ((key, effect),) = measure(AUDIT, DIFFERENCE.variants, "", runs=[*runs, *noise]).items()
    assert (key, effect.seeds) == (("paper", "b"), (2, 2))
    assert effect.change == pytest.approx(2.5)


def test_an_effect_is_against_the_usual_reading_or_the_one_named_and_the_opposite_is_apart() -> None:
    runs = [run("paper", 0, 0.5), run("opposite", 0, 0.3), run("released", 0, 0.6), run("second", 0, 0.4)]
    text = audited(*runs)
    assert text.count("paper, b: −10.00, 1 and 1 seeds") == 1
    assert text.index("paper, b: −10.00") < text.index("</table>") < text.index("opposite, b: −30.00")
    text = audited(*runs, against="second", ours="`a < b` & c", switch="x, y", choices="1 | 2")
    assert "paper, b: +10.00, 1 and 1 seeds" in text
    assert "measured against <code>second</code>" in text
    assert "<td><code>a &lt; b</code> &amp; c</td>" in text
    assert "switch <code>x: 1 | 2</code>, <code>y</code>" in text
    assert "not run: <code>paper, third</code>" in audited()


def test_every_method_of_a_paper_is_audited_and_every_named_test_is_of_the_method_or_of_all() -> None:
    audits = load_audits(LEADERBOARDS / "audit")
    unaudited = set(METHODS) - {audit.method for audit in audits}
    readmes = [LEADERBOARDS.parent / f"methods/{name.replace('-', '_')}/README.md" for name in unaudited]
    assert not [readme for readme in readmes if INTRO in readme.read_text(encoding="utf-8")]
    assert len(audits) >= 21
    tests, missing = LEADERBOARDS.parent / "tests", []
    for audit in audits:
        rooms = (f"methods/{audit.method.replace('-', '_')}", "methods/core", "conformance")
        files = [file for room in rooms for file in (tests / room).rglob("test_*.py")]
        sources = "".join(file.read_text(encoding="utf-8") for file in files)
        named = [test for actual in audit.differences for test in actual.tests]
        missing += [(audit.method, test) for test in named if f"def {test}(" not in sources]
    assert missing == []
    assert sum(len(actual.tests) for audit in audits for actual in audit.differences) >= 20


def test_every_audited_variant_of_a_recipe_is_on_the_page() -> None:
    """A run that turns one switch is next to its difference; others are a preset, whole or in part."""
    recipes, checked = load_recipes(), 0
    audits = {audit.method: audit for audit in load_audits(LEADERBOARDS / "audit")}
    for recipe in recipes.values():
        for name in recipe.groups.get("audit", ()):
            owner, _, system = name.rpartition("/")
            entry = recipes[owner or recipe.name].systems[system]
            audit = audits[entry.method]
            shown = {variant for actual in audit.differences for variant in actual.variants}
            preset = entry.variant.split()[0]
            assert entry.variant in shown or preset in (audit.preset, audit.opposite), name
            checked += 1
    assert checked >= 50


def settings(entry: Any, switch: str, prefix: str = "") -> dict[str, Any]:
    """Every value of nested settings that lies at or below the last name of `switch`, by place."""
    if not isinstance(entry, dict):
        return {prefix: entry} if switch.split(".")[-1] in prefix.split(".") else {}
    result: dict[str, Any] = {}
    for name, inner in entry.items():
        result |= settings(inner, switch, f"{prefix}.{name}")
    return result


def test_a_named_variant_turns_the_switch_of_its_difference_on_the_backbone_of_the_usual_reading() -> None:
    """The effect next to a difference is measured by the runs named there, so they must change its switch."""
    by_variant: dict[tuple[str, str], list[System]] = {}
    for recipe in load_recipes().values():
        for entry in recipe.systems.values():
            by_variant.setdefault((entry.method, entry.variant), []).append(entry)
    checked = 0
    for audit in load_audits(LEADERBOARDS / "audit"):
        for difference in audit.differences:
            usual = by_variant.get((audit.method, difference.against or audit.preset), [])
            for variant in difference.variants:
                assert any(
                    settings(entry.model_dump(), switch) != settings(other.model_dump(), switch)
                    for entry in by_variant[audit.method, variant]
                    for other in usual
                    if set(entry.backbones) & set(other.backbones)
                    for switch in difference.switch.split(", ")
                ), (audit.method, variant)
                checked += 1
    assert checked >= 45
