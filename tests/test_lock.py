"""The environment that `make` builds: every package by its hash, versions that the package itself accepts."""

import re
import tomllib
from importlib.metadata import version
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

PROJECT = Path(__file__).parents[1]
HASH = re.compile(r"--hash=sha256:[0-9a-f]{64}")


def pins(name: str) -> dict[str, tuple[str, int]]:
    """Returns version and number of hashes of each package of a lock file."""
    lines = re.sub(r"\\\n", " ", (PROJECT / name).read_text()).splitlines()
    result = {}
    for line in lines:
        if line.strip() and not line.startswith("#") and not line.strip().startswith("# via"):
            package, _, rest = line.partition("==")
            result[canonicalize_name(package)] = rest.split()[0], len(HASH.findall(rest))
    return result


def test_every_package_but_torch_has_a_hash() -> None:
    locked = pins("requirements.lock")
    assert len(locked) > 100
    assert not [package for package, (_, hashes) in locked.items() if not hashes]
    assert "torch" not in locked
    assert pins("requirements-torch.lock").keys() == {"torch"}


def test_the_package_accepts_every_locked_version() -> None:
    locked = pins("requirements.lock") | pins("requirements-torch.lock")
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    wanted = [Requirement(text) for text in [*project["dependencies"], *extras["pipeline"], *extras["mteb"]]]
    for requirement in wanted:
        if requirement.name != project["name"]:
            assert requirement.specifier.contains(locked[canonicalize_name(requirement.name)][0]), requirement


def test_these_tests_run_in_the_locked_environment() -> None:
    for package, (pinned, _) in (pins("requirements.lock") | pins("requirements-torch.lock")).items():
        assert version(package).partition("+")[0] == pinned, package
