#!/usr/bin/env bash
# Installs the wheel with its `evals` extra in an empty environment of a Python, asks a question and runs the written
# cases: `make wheel`, or deploy/try_wheel.sh python3.13.
set -euo pipefail
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for python in "$@"; do
  "$python" -m venv "$work/env"
  pip=("$work/env/bin/python" -m pip --disable-pip-version-check)
  "${pip[@]}" wheel --quiet --no-deps -w "$work" .
  "${pip[@]}" install --quiet "$(echo "$work"/anamnesis-*.whl)[evals]"
  "${pip[@]}" check
  export ANAMNESIS_HOME="$work/home" ANAMNESIS_LITERATURE__LIVE=off
  (cd "$work" && env/bin/anamnesis ask "Do statins prevent a first heart attack?" && env/bin/anamnesis eval run cases)
  rm -rf "$work/env" "$work/home"
done
