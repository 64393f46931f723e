#!/usr/bin/env bash
# Stops in a reverse sweep, lists it, steps through it into a callee's, and looks at adjoints.
#   step.sh <c++> <plugin> <spring.cpp>
set -euo pipefail
command -v gdb >/dev/null || { echo "skipped: gdb is not installed"; exit 77; }
include=$(cd "$(dirname "$0")/../../include" && pwd)
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
"$1" -std=c++20 -g -O0 -I"$include" -fplugin="$2" -fplugin-arg-clad-out="$work/spring_derivatives.cpp" "$3" -o "$work/spring"
if ! gdb -q -nx -batch -ex 'set debuginfod enabled off' -ex 'break energy_rev' -ex run -ex list -ex 'next 5' \
  -ex 'info locals' -ex 'print s.square' -ex 'break stretch_rev' -ex continue -ex backtrace -ex finish -ex step \
  "$work/spring" >"$work/seen" 2>&1 || grep -q 'ptrace: Operation not permitted' "$work/seen"; then
  cat "$work/seen"
  echo "skipped: gdb cannot run a program here"
  exit 77
fi
for wanted in 'Breakpoint 1.*energy_rev (stiffness=3, length=2' \
  'd_energy += d_result / 2;  // return energy / 2' '^d_energy = 0.5$' '^d_square = 1.5$' '= 1$' \
  'stretch_rev (length=2, rest=1' 'energy_grad.*spring_derivatives.cpp:' '#.* main .*spring.cpp:13'; do
  grep -q -- "$wanted" "$work/seen" || { cat "$work/seen"; echo "not seen: $wanted"; exit 1; }
done
