"""What the studies of two checkouts say, held against each other claim by claim.

In one environment, one file for each study, so that what is stopped goes on where it was:

    python tests/studies/compare_verdicts.py write BEFORE --source OLD/src --home H1
    python tests/studies/compare_verdicts.py write AFTER --source NEW/src --home H2
    python tests/studies/compare_verdicts.py compare BEFORE AFTER
    python tests/studies/compare_verdicts.py table BEFORE AFTER > docs/changed-verdicts.md

A change of form must change no verdict: `compare` walks every claim (id, words, measured value
with spread and number, bound, control and verdict), prints what differs and exits with 1 if
anything does. Another rule of judging may change verdicts: `table` makes a page of those that it
changed, each with the reason that `changed_verdicts.toml` gives, and refuses one without. Both
take `--scale laptop` when writing, and the studies named in `--only`.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import time
import tomllib
from pathlib import Path
from typing import Any

DOCUMENTS = {"000": "yang2024", "001": "yang2025", "002": "chen2025", "003": "boix2023",
             "004": "zhu2024"}  # fmt: skip
SAME = 1e-9  # relative; one machine, but programs may be put together in another order
REASONS = Path(__file__).with_name("changed_verdicts.toml")
Found = dict[str, dict[str, Any]]  # by study: what `run --json` prints


def command(source: Path, home: Path, *words: str) -> dict[str, Any]:
    """What a `dynascope` command of that checkout prints with --json."""
    env = {**os.environ, "PYTHONPATH": str(source), "DYNASCOPE_HOME": str(home)}
    call = [sys.executable, "-c", "from dynascope.cli import main; main()", *words, "--json"]
    done = subprocess.run(call, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(words)}: exit code {done.returncode}\n{done.stderr[-2000:]}")
    return json.loads(done.stdout)


def write(folder: Path, source: Path, home: Path, scale: str, only: list[str]) -> None:
    """Run the studies of a checkout that the folder does not have, and keep what they say."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in only or sorted(s["name"] for s in command(source, home, "list")["studies"]):
        path = folder / f"{name}.json"
        if path.exists():
            continue
        begun = time.perf_counter()
        found = command(source, home, "run", name, "--scale", scale)
        found["wall"] = round(time.perf_counter() - begun, 1)
        path.write_text(json.dumps(found, indent=1))
        print(f"{name}: {len(found['claims'])} claims, {found['wall']} s", flush=True)


def read(folder: Path, only: list[str]) -> Found:
    """What a folder has, by study."""
    paths = {p.stem: p for p in sorted(folder.glob("*.json"))}
    return {
        name: json.loads(p.read_text()) for name, p in paths.items() if name in only or not only
    }


def alike(a: Any, b: Any) -> bool:
    """Equal, numbers to rounding; document numbers and handles mean the same."""
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(alike(a[k], b[k]) for k in a)
    numbers = (int, float)
    if isinstance(a, numbers) and isinstance(b, numbers):
        same = math.isclose(a, b, rel_tol=SAME, abs_tol=1e-12)
        return same or (math.isnan(a) and math.isnan(b))
    return a == b


def plain_source(text: str) -> str:
    """The source with document numbers as handles."""
    for number, handle in DOCUMENTS.items():
        text = text.replace(number, handle)
    return text


def claims_of(found: Found, study: str) -> dict[str, dict[str, Any]]:
    """The claims of a study by id."""
    return {c["id"]: c for c in found.get(study, {"claims": []})["claims"]}


def compare(old: Found, new: Found) -> int:
    """Print every difference; return how many claims differ."""
    differing = total = 0
    for study in sorted(old.keys() | new.keys()):
        claims = claims_of(old, study), claims_of(new, study)
        for id_ in dict.fromkeys([*claims[0], *claims[1]]):
            total += 1
            wrong = []
            if not all(id_ in c for c in claims):
                wrong.append(f"only {'before' if id_ in claims[0] else 'after'}")
            else:
                a, b = claims[0][id_], claims[1][id_]
                for field in ("statement", "measured", "expected", "verdict", "control"):
                    if not alike(a[field], b[field]):
                        wrong.append(f"{field}: {a[field]}\n      -> {b[field]}")
                if plain_source(a["source"]) != plain_source(b["source"]):
                    wrong.append(f"source: {a['source']}\n      -> {b['source']}")
            if wrong:
                differing += 1
                print(id_, *wrong, sep="\n    ")
    print(f"{total} claims, {differing} differ")
    return differing


def said(claim: dict[str, Any]) -> str:
    """A verdict with what was measured and what was expected, for a cell of the table."""
    value, bound = claim["measured"]["value"], claim["expected"]
    if value is None:
        return claim["verdict"]
    ends = [bound.get(side) if isinstance(bound, dict) else None for side in ("low", "high")]
    words = [f"{sign} {end:.4g}" for sign, end in zip("≥≤", ends, strict=True) if end is not None]
    return f"{claim['verdict']}: {value:.4g}" + (f" ({', '.join(words)})" if words else "")


def table(old: Found, new: Found, given: dict[str, dict[str, str]]) -> str:
    """The page of verdicts that changed.

    Args:
        old: Of the first checkout.
        new: Of the second.
        given: `reasons` by the id of a claim, `not_run` by study: why it is left out, and
            `checkouts`: what `before` and `after` are, in words.

    Returns:
        Markdown; studies that only the second checkout has are no part of it.

    Raises:
        SystemExit: Where a changed claim has no reason, a reason no changed claim, or a study of
            the first checkout was not run by the second.
    """
    both = sorted(old.keys() & new.keys())
    pairs = {study: (claims_of(old, study), claims_of(new, study)) for study in both}
    changed = {
        id_: (a[id_], b[id_]) for a, b in pairs.values() for id_ in a
        if id_ in b and a[id_]["verdict"] != b[id_]["verdict"]
    }  # fmt: skip
    for what, ids in (("a reason", changed.keys() ^ given["reasons"].keys()),
                      ("both checkouts", old.keys() - new.keys() - given["not_run"].keys()),
                      ("one checkout", given["not_run"].keys() & pairs.keys())):  # fmt: skip
        if ids:
            raise SystemExit(f"not with {what}: {', '.join(sorted(ids))}")
    shared = [(a[id_], b[id_]) for a, b in pairs.values() for id_ in a.keys() & b.keys()]
    kept = len(shared)
    other = sum(said(a) != said(b) and a["verdict"] == b["verdict"] for a, b in shared)
    gone = sum(len(a.keys() - b.keys()) for a, b in pairs.values())
    added = sum(len(b.keys() - a.keys()) for a, b in pairs.values())
    rows = [f"| `{id_}` | {said(a)} | {said(b)} | {given['reasons'][id_]} |"
            for id_, (a, b) in changed.items()]  # fmt: skip
    left = [f"- `{study}`: {why}" for study, why in sorted(given["not_run"].items())]
    return "\n".join([
        "# Verdicts that changed with the rule of judging", "",
        f"Before: {given['checkouts']['before']}. After: {given['checkouts']['after']}. Both ran "
        f"the {len(both)} studies below at laptop scale on one machine. Claims that both have: "
        f"{kept}; with another verdict: {len(changed)}; with the same verdict and another number "
        f"or bound: {other}. Old claims that are gone or have another name: {gone}; new ones: "
        f"{added}. Numbers stand beside the bound that each checkout had. "
        "Written by `tests/studies/compare_verdicts.py`, which says how to make it again.", "",
        *(["| claim | before | after | why |", "|---|---|---|---|", *rows, ""] if rows else []),
        "Studies compared: " + ", ".join(f"`{study}`" for study in both) + ".", "",
        *(["Not run:", "", *left, ""] if left else []),
    ])  # fmt: skip


def main() -> None:
    """The commands of the module's docstring."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="what", required=True)
    writing = commands.add_parser("write")
    writing.add_argument("folder", type=Path)
    writing.add_argument("--source", type=Path, required=True)
    writing.add_argument("--home", type=Path, required=True)
    writing.add_argument("--scale", default="smoke")
    comparing, tabling = commands.add_parser("compare"), commands.add_parser("table")
    for sub in (comparing, tabling):
        sub.add_argument("before", type=Path)
        sub.add_argument("after", type=Path)
    for sub in (writing, comparing, tabling):
        sub.add_argument("--only", nargs="*", default=[])
    args = parser.parse_args()
    if args.what == "write":
        return write(args.folder, args.source, args.home, args.scale, args.only)
    old, new = read(args.before, args.only), read(args.after, args.only)
    if args.what == "compare":
        sys.exit(1 if compare(old, new) else 0)
    print(table(old, new, tomllib.loads(REASONS.read_text())), end="")


if __name__ == "__main__":
    main()
