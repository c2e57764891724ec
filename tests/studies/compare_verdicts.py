"""All studies of a checkout at smoke scale, and two such lists held against each other.

A change of form must change no verdict. In one environment:

    python tests/studies/compare_verdicts.py write before.json --source OLD/src --home H1
    python tests/studies/compare_verdicts.py write after.json --source NEW/src --home H2
    python tests/studies/compare_verdicts.py compare before.json after.json

`compare` walks every claim: id, words, measured value with spread and number, bound, control
and verdict. It prints what differs and exits with 1 if anything does.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

DOCUMENTS = {"000": "yang2024", "001": "yang2025", "002": "chen2025", "003": "boix2023",
             "004": "zhu2024"}  # fmt: skip
SAME = 1e-9  # relative; one machine, but programs may be put together in another order


def command(source: Path, home: Path, *words: str) -> dict[str, Any]:
    """What a `dynascope` command of that checkout prints with --json."""
    env = {**os.environ, "PYTHONPATH": str(source), "DYNASCOPE_HOME": str(home)}
    call = [sys.executable, "-c", "from dynascope.cli import main; main()", *words, "--json"]
    done = subprocess.run(call, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(words)}: exit code {done.returncode}\n{done.stderr[-2000:]}")
    return json.loads(done.stdout)


def write(path: Path, source: Path, home: Path, only: list[str]) -> None:
    """Run the studies of a checkout at smoke scale and keep what they say."""
    names = only or sorted(s["name"] for s in command(source, home, "list")["studies"])
    found = json.loads(path.read_text()) if only and path.exists() else {}
    for name in names:
        begun = time.perf_counter()
        found[name] = command(source, home, "run", name, "--scale", "smoke")
        found[name]["wall"] = round(time.perf_counter() - begun, 1)
        print(f"{name}: {len(found[name]['claims'])} claims, {found[name]['wall']} s", flush=True)
        path.write_text(json.dumps(found, indent=1))


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


def compare(before: Path, after: Path, only: list[str]) -> int:
    """Print every difference between two lists; return how many claims differ."""
    old, new = (json.loads(p.read_text()) for p in (before, after))
    differing = total = 0
    for study in sorted((old.keys() | new.keys()) if not only else set(only)):
        claims = [{c["id"]: c for c in x.get(study, {"claims": []})["claims"]} for x in (old, new)]
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


def main() -> None:
    """The two commands of the module's docstring."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="what", required=True)
    writing = commands.add_parser("write")
    writing.add_argument("path", type=Path)
    writing.add_argument("--source", type=Path, required=True)
    writing.add_argument("--home", type=Path, required=True)
    comparing = commands.add_parser("compare")
    comparing.add_argument("before", type=Path)
    comparing.add_argument("after", type=Path)
    for sub in (writing, comparing):
        sub.add_argument("--only", nargs="*", default=[])
    args = parser.parse_args()
    if args.what == "write":
        write(args.path, args.source, args.home, args.only)
    else:
        sys.exit(1 if compare(args.before, args.after, args.only) else 0)


if __name__ == "__main__":
    main()
