#!/bin/sh
# What the preload shim adds to a launch, beside the unobserved launch, in one run.
set -e
cd "$(dirname "$0")/.."
exec cargo bench --quiet --profile dev -p whichkernel-watch --bench preload
