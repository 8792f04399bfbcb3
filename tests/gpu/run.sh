#!/bin/sh
# All checks and benches that need a CUDA device, in under 10 minutes. Results go to the directory $1 (default: out).
set -eu
cd "$(dirname "$0")/../.."
out=${1:-out}
mkdir -p "$out"
python -c 'import torch; assert torch.cuda.is_available(), "there is no CUDA device here"'
timeout 300 python -m pytest tests/gpu -m gpu -o addopts='' -q 2>&1 | tee "$out/gpu-tests.txt"
timeout 240 python -m tests.gpu.bench_steps --json "$out/gpu-steps.json" | tee "$out/gpu-steps.txt"
