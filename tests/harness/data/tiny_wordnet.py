"""A WordNet of a handful of words in the files of the real one."""

from pathlib import Path

LICENCE = "  1 This is a made up licence line\n  2 of two lines\n"
SYNSETS = {
    "noun": "dog Canis_familiaris, man adult_male, goose, goose fathead, river, axis axis_vertebra, ax axe",
    "verb": "run go operate, run flee, try attempt",
    "adj": "old aged(a), big large",
    "adv": "quickly fast",
}
EXCEPTIONS = {
    "noun": "axes axis\ngeese goose\n",
    "verb": "ran run\n",
    "adj": "bigger big\n",
    "adv": "best well\n",
}


def write_wordnet(folder: Path) -> Path:
    """Writes index, data and exception files; an offset is where a line begins in its file."""
    folder.mkdir(parents=True, exist_ok=True)
    for part, synsets in SYNSETS.items():
        lines, offsets, mark = LICENCE, {}, "r" if part == "adv" else part[0]
        for words in map(str.split, synsets.split(", ")):
            offset = len(lines)
            for word in words:
                offsets.setdefault(word.split("(")[0].lower(), []).append(offset)
            named = " ".join(f"{word} 0" for word in words)
            lines += f"{offset:08d} 05 {mark} {len(words):02x} {named} 001 @ 00000001 n 0000 | a gloss\n"
        (folder / f"data.{part}").write_text(lines)
        index = [
            f"{lemma} {mark} {len(actual)} 1 @ {len(actual)} 0 {' '.join(f'{at:08d}' for at in actual)}  \n"
            for lemma, actual in sorted(offsets.items())
        ]
        (folder / f"index.{part}").write_text(LICENCE + "".join(index))
        (folder / f"{part}.exc").write_text(EXCEPTIONS[part])
    return folder
