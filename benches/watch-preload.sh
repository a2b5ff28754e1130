#!/bin/sh
# Overhead of the preload shim per launch, compared with the unobserved launch, in one run.
set -e
cd "$(dirname "$0")/.."
exec cargo bench --quiet --profile dev -p whichkernel-watch --bench preload
