#!/usr/bin/env bash
# Writes the hashed locks again from pyproject.toml and constraints.txt, for CPython 3.11.5 and newer on Linux, macOS
# and Windows: `make lock`. Its only argument is the program uv.
set -euo pipefail
cd "$(dirname "$0")"
uv=$1
# The CPU build for Linux x86_64 and CPython 3.11, which PyTorch's own index has and PyPI has not.
cpu_build=sha256:6746dbcbeb526eb61330b76b41ff1b4eb848951103a892eeb080dfa2b264667b
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
grep '^torch==' ../../constraints.txt >"$work/torch.in"
# Torch is locked apart: which build serves is for the machine to say.
echo "$(cat "$work/torch.in") ; sys_platform == 'never'" >"$work/apart.txt"

compile() {
  "$uv" pip compile --quiet --universal --python-version 3.11.5 --generate-hashes --no-header --no-annotate \
    --constraint ../../constraints.txt "$@"
}

compile ../../pyproject.toml also.in --extra dev --override "$work/apart.txt" --no-emit-package torch -o dev.txt
compile ../../pyproject.toml also.in --override "$work/apart.txt" --no-emit-package torch -o core.txt
compile ../../pyproject.toml also.in --extra documents --extra mirror --extra serve --extra mcp --extra postgres --extra milvus --extra telemetry --extra exports --override "$work/apart.txt" --no-emit-package torch \
  -o image.txt
rm -f torch.txt # uv keeps the hashes of a file that is there
compile "$work/torch.in" --no-deps -o torch.txt
sed -i.old "\$s/\$/ \\\\\\n    --hash=$cpu_build/" torch.txt && rm -f torch.txt.old
compile "$work/torch.in" -o cuda.txt $(sed -n 's/^\([a-z][a-z0-9-]*\)$/--no-emit-package \1/p' also.in) \
  --no-emit-package torch --no-emit-package markupsafe --no-emit-package mpmath
