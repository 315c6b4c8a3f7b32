"""All generated text of the project: `make generated` writes it, `python -m docs.generated --check` compares.

It is the table of data sources, the deviations in the READMEs of methods, the table of docs/speed.md, the
hours of docs/weekend.md, the controls of docs/small-setting.md, the words of docs/verdicts.md, the rates
of docs/error-rates.md, reports/portability.md, the JSON schemas of declared files, and the outputs of
commands that documents show.
"""

import argparse
import json
import sys
from importlib import import_module
from pathlib import Path

from benchmarks.portability import records
from benchmarks.small_controls import to_controls
from benchmarks.small_setting import PAGE as SMALL_PAGE
from benchmarks.verdicts import tables as verdicts
from docs import outputs
from harness.commands.list import listing
from harness.errors import InputError
from harness.evidence.further import read_recorded
from harness.evidence.published import load_published
from harness.io.files import write_text
from harness.paths import AUDIT, LEADERBOARDS, MEASUREMENTS, SOURCE_PAGE, SPEED_PAGE, WEEKEND_PAGE
from harness.plan.params_file import file_schema
from harness.plan.recipes import load_recipes
from harness.report.assembly.tables import build_tables, evidence_of
from harness.report.formats.readmes import INTRO, to_deviations, to_scale, to_source_table, with_section
from harness.report.gpu_time import SPANS, gpu_plan
from harness.report.measurements import load_measurements, to_speed_section
from harness.report.pages.audit import load_audits
from methods.registry import METHODS

README, WORDS_PAGE = "README.md", Path("docs/verdicts.md")
SCHEMAS = LEADERBOARDS / "schemas"
DECLARED = {
    "recipe": "harness.plan.recipes:RecipeFile",
    "table": "harness.evidence.spec:TableSpec",
    "published": "harness.evidence.printed:PublishedPaper",
    "evidence": "harness.evidence.studies:StudyFile",
    "claims": "harness.report.pages.claims:PaperClaims",
    "audit": "harness.report.pages.audit:MethodAudit",
}
"""Kind of declared file -> its model; params.yaml has a schema that is no model's."""


def generated() -> dict[Path, str]:
    """Returns the expected text of every generated file, except outputs of commands."""
    pages = {**readmes(), SOURCE_PAGE: to_source_table(listing("sources"))}
    measured = load_measurements(MEASUREMENTS)
    if measured is not None:
        section = to_speed_section(measured)
        pages[SPEED_PAGE] = with_section(page_text(SPEED_PAGE), section, where=str(SPEED_PAGE))
    results = read_recorded().results
    if results:
        pages[SMALL_PAGE] = with_section(page_text(SMALL_PAGE), to_controls(results), where=str(SMALL_PAGE))
    text = page_text(WEEKEND_PAGE)
    for section in weekend_sections():
        text = with_section(text, section, where=str(WEEKEND_PAGE))
    pages[WEEKEND_PAGE] = text
    pages[WORDS_PAGE] = with_section(page_text(WORDS_PAGE), to_scale(), where=str(WORDS_PAGE))
    pages[verdicts.DOCS] = verdicts.with_tables(page_text(verdicts.DOCS))
    pages[records.REPORT] = records.as_markdown(records.recorded())
    return pages | {SCHEMAS / f"{kind}.json": schema_text(kind) for kind in ("params", *DECLARED)}


def weekend_sections() -> list[str]:
    """Returns the sections on what a night and a weekend of one GPU settle."""
    published, recipes = load_published(), load_recipes()
    tables = build_tables(evidence_of([], published=published, recipes=recipes), recipes)
    plans = [gpu_plan(span, tables, list(published.papers), recipes) for span in SPANS]
    sections = [plan.section() for plan in plans if plan is not None]
    if len(sections) < len(SPANS):
        raise InputError(f"{WEEKEND_PAGE}: no table has a plan")
    return sections


def readmes() -> dict[Path, str]:
    """Returns the expected README of every method.

    The section of a method without an audit is written by hand.
    Errors: InputError for an audit without a method, a section of a removed audit, or a README without the
    section.
    """
    audits = {audit.method: audit for audit in load_audits(AUDIT)}
    if audits.keys() - METHODS.keys():
        odd = ", ".join(sorted(audits.keys() - METHODS.keys()))
        raise InputError(f"{AUDIT}: {odd} is not a method; correct `method`")
    texts = {}
    for name, target in METHODS.items():
        path = Path(*target.split(".")[:-1], README)
        text = page_text(path)
        if name in audits:
            text = with_section(text, to_deviations(audits[name]), where=f"the README of {name}")
        elif INTRO in text:
            raise InputError(f"{path}: its audit is missing in {AUDIT}")
        texts[path] = text
    return texts


def page_text(path: Path) -> str:
    """Returns the text of a document; InputError if it is missing or not UTF-8."""
    if not path.is_file():
        raise InputError(f"{path}: no such file")
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: byte {error.start} is not UTF-8") from None


def schema_text(kind: str) -> str:
    """Returns the JSON Schema of a kind of declared file."""
    if kind == "params":
        schema = file_schema()
    else:
        module, _, name = DECLARED[kind].partition(":")
        schema = getattr(import_module(module), name).model_json_schema()
    dialect = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    return json.dumps({**dialect, **schema}, indent=1) + "\n"


def stale() -> dict[Path, str]:
    """Returns the stale generated files with their expected text."""
    return {path: text for path, text in generated().items() if not path.is_file() or page_text(path) != text}


def main() -> int:
    """Writes stale files, or names them and returns 1; names outputs that cannot be generated here."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="only check: fail if a file is stale")
    check = parser.parse_args().check
    try:
        files = stale()
    except InputError as error:
        print(f"docs.generated: {error}", file=sys.stderr)
        return 2
    for path, text in files.items():
        print(f"{path}: {'stale; run `make generated`' if check else 'written'}")
        if not check:
            write_text(path, text)
    shown = outputs.rewrite(write=not check)
    return int(check and bool(files or shown))


if __name__ == "__main__":
    sys.exit(main())
