"""Asks an advisory service whether a known fault is in what the locks install: `make audit`.

pip-audit asks; what this adds is that an unanswered question is told as one. Exit status: 0 no known fault, 1 one is
known, 2 not checked. Only names and versions of packages are sent.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path


def main() -> int:
    """Audit the locks that are named, and say what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--advisories", required=True, help="address of a service that speaks OSV's query")
    parser.add_argument("locks", nargs="+", type=Path)
    asked = parser.parse_args()
    command = [sys.executable, "-m", "pip_audit", *(f"--requirement={lock}" for lock in asked.locks), "--strict"]
    command += ["--disable-pip", "--require-hashes", "--progress-spinner=off", "--format=json"]
    command += ["--vulnerability-service=osv", f"--osv-url={asked.advisories}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    try:
        packages = json.loads(done.stdout)["dependencies"]
    except (ValueError, KeyError):
        why = (done.stderr.strip() or "no answer").splitlines()[-1]
        print(f"Not checked: {asked.advisories} cannot be asked ({why}).")
        return 2
    known = [(p["name"], p["version"], fault) for p in packages for fault in p.get("vulns", ())]
    for name, version, fault in known:
        mended = ", ".join(fault["fix_versions"]) or "no version yet"
        print(f"{name} {version}: {fault['id']}, mended in {mended}")
    print(f"{len(packages)} packages checked, {len(known)} known faults.")
    return 1 if known else 0


if __name__ == "__main__":
    sys.exit(main())
