#!/usr/bin/env python3
"""Counts the results of `go test -json` and holds them against .ci/floors.txt and .ci/skips.txt.

count.py SUITE FILE      prints the suite's counts and every failure; exit 1 on a failure, a count below the floor, or
                         a skip that skips.txt does not name.
count.py --total FILE…   prints the closing line over all suites.
"""
import json
import pathlib
import sys

HERE = pathlib.Path(__file__).parent


def read(path):
    results, output, broken = {}, {}, []
    for line in open(path, encoding="utf-8", errors="replace"):
        try:
            event = json.loads(line)
        except ValueError:
            print(line, end="")
            continue
        key = (event.get("Package", event.get("ImportPath", "?")), event.get("Test"))
        action = event.get("Action")
        if action in ("output", "build-output"):
            output.setdefault(key, []).append(event.get("Output", ""))
        elif action in ("pass", "fail", "skip"):
            if key[1] is not None:
                results[key] = action
            elif action == "fail":
                broken.append(key)
        elif action == "build-fail":
            broken.append(key)
    return results, output, broken


def table(name):
    rows = {}
    path = HERE / name
    if path.exists():
        for line in path.read_text().splitlines():
            line = line.split("#", 1)[0].strip() if name == "floors.txt" else line.strip()
            if line and not line.startswith("#"):
                key, _, rest = line.partition(" ")
                rows[key] = rest.strip()
    return rows


def suite(name, path):
    results, output, broken = read(path)
    count = {"pass": 0, "fail": 0, "skip": 0}
    for action in results.values():
        count[action] += 1
    failed_packages = {key[0] for key, action in results.items() if action == "fail"}
    for key, action in results.items():
        if action == "fail":
            print(f"--- FAIL {key[0]} {key[1]}")
            print("".join(output.get(key, []))[-6000:])
    for key in broken:
        if key[0] not in failed_packages:
            print(f"--- FAIL {key[0]}")
            print("".join(output.get(key, []))[-6000:])
    bad = bool(count["fail"] or broken)
    allowed = table("skips.txt")
    for key, action in results.items():
        if action == "skip" and f"{name}:{key[1]}" not in allowed:
            bad = True
            print(f"--- SKIP not allowed: {key[0]} {key[1]} (name it in .ci/skips.txt as SUITE:TEST with its reason, or make it run)")
    floor = int(table("floors.txt").get(name, "1"))
    if count["pass"] < floor:
        bad = True
        print(f"--- {name}: {count['pass']} passed, the floor is {floor}")
    print(f"{name}: {count['pass']} passed, {count['fail'] + len(broken)} failed, {count['skip']} skipped (floor {floor})")
    return 1 if bad else 0


def total(paths):
    count = {"pass": 0, "fail": 0, "skip": 0}
    for path in paths:
        results, _, broken = read(path)
        for action in results.values():
            count[action] += 1
        count["fail"] += len(broken)
    print(f"{count['pass']} passed, {count['fail']} failed, {count['skip']} skipped")
    return 0


if sys.argv[1] == "--total":
    sys.exit(total(sys.argv[2:]))
sys.exit(suite(sys.argv[1], sys.argv[2]))
