#!/usr/bin/env bash
# The certificate on a real GPU: our observers, CUPTI as a foreign one, and a wrapper that hides the card, which must be
# detected.
#   benches/nvidia/certify.sh path/to/whichkernel path/to/cupti.so OUT COMMAND...
set -u
tool=$1; cupti=$2; out=$3; shift 3
status=0
try() { # expected exit code, name, words...
    local want=$1 name=$2; shift 2
    "$tool" watch --certify "$@" > "$out/certify.$name.txt" 2> "$out/certify.$name.err"; local got=$?
    echo "certify $name: exit $got"
    cut -c1-220 "$out/certify.$name.txt"
    case $want in any) ;; "$got") ;; *) echo "certify $name: exit $want was expected"; tail -3 "$out/certify.$name.err"; status=1 ;; esac
}
try 0 preload --how preload -- "$@"
try 0 uprobe --how uprobe -- "$@"
try any cupti --with "env CUDA_INJECTION64_PATH=$cupti CUPTI_OUT=$out/certify.tsv" -- "$@"
try 1 hidden --with "env CUDA_VISIBLE_DEVICES=-1" -- "$@"
exit $status
