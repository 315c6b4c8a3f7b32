"""`sentbench contribute`: pack results of runs so that another checkout can show them.

Example: `sentbench contribute pcl__bert-base-uncased__s7 --out bundle.zip --name "A lab" --may-be-cited`
"""

import argparse
from collections.abc import Iterable
from functools import partial
from pathlib import Path

from pydantic import ValidationError

from harness.disk.outputs import check_file
from harness.errors import InputError, near_matches
from harness.identity import code_base, run_code, training_roots
from harness.paths import CURVES, EMBEDDINGS, SCORES, STORE_RECORD, need_checkout
from harness.plan.entries import read_plan
from harness.results.bundles import Contributor, RunFiles, is_bundle, pack
from harness.results.contributions import sign
from harness.results.history import git_state
from harness.results.store import read_result
from methods.registry import METHODS

ARGUMENTS = {
    "runs": {
        "nargs": "*",
        "metavar": "RUN",
        "help": "keys of runs in reports/scores (default: all of the plan)",
    },
    "--out": {"type": Path, "required": True, "metavar": "BUNDLE", "help": "the file to write"},
    "--name": {"required": True, "help": "who ran it: a person or a group"},
    "--link": {"default": "", "help": "https address under which readers find them"},
    "--may-be-cited": {"action": "store_true", "help": "the report may show name and link"},
    "--vectors": {"action": "store_true", "help": "also pack the vectors, to be scored again"},
    "--sign": {"type": Path, "metavar": "KEYFILE", "help": "sign the bundle with this SSH key"},
}


def execute(arguments: argparse.Namespace) -> None:
    """Writes the bundle and prints what is in it."""
    need_checkout("contributing results")
    place = check_file(arguments.out)
    if place.is_file() and place.stat().st_size and not is_bundle(place):
        raise InputError(
            f"{arguments.out}: is not a bundle, expected a new file or a bundle to replace; name another file"
        )
    contributor = contributor_of(arguments.name, arguments.link, may_be_cited=arguments.may_be_cited)
    keys = arguments.runs or evaluated()
    files = [run_files(key, vectors=arguments.vectors) for key in keys]
    results = [read_result(run.scores) for run in files]
    for result in results:
        made_by, tasks = result.provenance.code_sha256, [score.task for score in result.scores]
        if made_by is not None and made_by != run_code(result.run.method, tasks):  # another commit's
            raise InputError(
                f"{result.run.key}: made by other code; check out the code that made it, or evaluate it again"
            )
    code = code_fingerprints(result.run.method for result in results)
    signed = partial(sign, key=arguments.sign) if arguments.sign else None
    manifest = pack(arguments.out, files, contributor=contributor, code=code, commit=git_state(), sign=signed)
    print(
        f"{arguments.out}: {len(files)} runs, {len(manifest.members)} files, by {contributor.name}"
        + (", signed" if signed else "")
    )


def evaluated() -> list[str]:
    """Returns the runs of the plan that have scores. Errors: InputError if none has."""
    keys = [key for key in read_plan().runs if (SCORES / f"{key}.json").is_file()]
    if not keys:
        raise InputError(f"{SCORES}: no scores of a run of the plan, expected some; run `sentbench launch`")
    return keys


def contributor_of(name: str, link: str, *, may_be_cited: bool) -> Contributor:
    """Returns who ran it. Errors: InputError for a name or link that cannot be shown."""
    try:
        return Contributor(name=name, link=link, may_be_cited=may_be_cited)
    except ValidationError as error:
        first = error.errors()[0]
        raise InputError(
            f"--{first['loc'][0]}: {first['msg']}, expected a name of up to 80 characters without angle "
            "brackets and a link that begins with https://; correct it"
        ) from None


def run_files(key: str, *, vectors: bool) -> RunFiles:
    """Returns the files of a run here. Errors: InputError without its scores, or its vectors if wanted."""
    scores, curve, store = SCORES / f"{key}.json", CURVES / f"{key}.json", EMBEDDINGS / key
    if not scores.is_file():
        known = [path.stem for path in SCORES.glob("*.json")]
        raise InputError(
            f"{scores}: no such file, expected the result of a run{near_matches(key, known)}; evaluate it"
        )
    if vectors and not (store / STORE_RECORD).is_file():
        raise InputError(f"{store}: no stored vectors, expected those of the run; leave out --vectors")
    return RunFiles(scores, curve if curve.is_file() else None, store if vectors else None)


def code_fingerprints(methods: Iterable[str]) -> dict[str, str]:
    """Returns the fingerprint of the code that trains each method, here and now."""
    code = code_base()
    return {name: code.fingerprint(training_roots(name)) for name in sorted({*methods} & METHODS.keys())}
