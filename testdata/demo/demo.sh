#!/bin/sh
# What "make demo" shows: a shop's nightly load of orders, on good days and bad.
#
#   WAP=bin/wap GEN=bin/orders testdata/demo/demo.sh
#
# ROWS is the rows of one day (six days are made). WAREHOUSE is the URL of the
# warehouse to make, on an object store or elsewhere; without it a local folder.
# KEEP=1 leaves that folder behind. Every exit code is checked: the script fails where one is not as told.
set -eu

: "${WAP:?path of the wap binary}" "${GEN:?path of the program that makes orders}"
rows=${ROWS:-200000}
[ "$rows" -ge 4000 ] || { echo "ROWS=$rows: want at least 4000" >&2; exit 2; }

here=$(cd "$(dirname "$0")" && pwd)
dir=$(mktemp -d "${TMPDIR:-/tmp}/wap-demo.XXXXXX")
cleanup() {
	if [ "${KEEP:-0}" = 1 ]; then echo "kept: $dir"; else rm -rf "$dir"; fi
}
trap cleanup EXIT
trap 'exit 130' INT TERM

mkdir "$dir/bin" "$dir/tmp"
cp "$WAP" "$dir/bin/wap"
cp "$GEN" "$dir/bin/orders"
cp "$here/checks.yaml" "$dir"
cd "$dir"

# Nothing from outside steers the tool; what a killed run leaves goes with $dir.
for name in $(env | sed -n 's/^\(WAP_[A-Z_]*\)=.*/\1/p'); do unset "$name"; done
PATH="$dir/bin:$PATH"
TMPDIR="$dir/tmp"
WAP_WAREHOUSE=${WAREHOUSE:-"$dir/warehouse"}
export PATH TMPDIR WAP_WAREHOUSE

commands=0

chapter() { printf '\n\n== %s\n' "$*"; }

say() { printf '\n%s\n' "$*"; }

die() {
	printf '\ndemo: %s\n' "$*" >&2
	exit 1
}

# show prints a command as one would type it.
show() {
	printf '\n$'
	for word; do
		case $word in
		*[!A-Za-z0-9_./:=@,-]* | '') printf " '%s'" "$word" ;;
		*) printf ' %s' "$word" ;;
		esac
	done
	printf '\n'
}

# expect CODE COMMAND… runs a command and fails unless it exits with CODE. What
# it printed is also in the file "last".
expect() {
	want=$1
	shift
	show "$@"
	code=0
	"$@" >last 2>&1 || code=$?
	if [ "$fold" = yes ]; then folded <last; else cat last; fi
	[ "$code" -eq "$want" ] || die "exit $code, want $want: $*"
	[ "$code" -eq 0 ] || echo "[exit $code]"
	commands=$((commands + 1))
}

# folded counts the assertions that passed, instead of listing them once more.
fold=no
folded() {
	awk '/^pass  /{ n++; next } n { printf "[%d assertions passed]\n", n; n = 0 } { print }'
}

# says PATTERN, silent PATTERN: what the last command has to print, or must not.
says() { grep -q -e "$1" last || die "the last command does not say \"$1\""; }
silent() { ! grep -q -e "$1" last || die "the last command says \"$1\""; }

# readers prints what a reader of the whole table gets.
readers() { wap files orders --format lines | sort; }

# unmoved fails unless readers get what they got when "before" was written.
unmoved() {
	readers >after
	cmp -s before after || die "readers see something else than before"
	echo "[readers: the same $(grep -c . after) files as before]"
}

load() { # load CODE DAY [FLAG…]: the nightly job of a day
	code_wanted=$1 day=$2
	shift 2
	expect "$code_wanted" wap run "orders/dt=$day" --run "load/$day" --checks checks.yaml -- orders -rows "$rows" "$@"
	silent '^WARN'
}

chapter "A new warehouse, and three days that go well"
expect 0 wap init
load 0 2025-03-01
says "orders: wrote $rows rows"
fold=yes
load 0 2025-03-02
load 0 2025-03-03
expect 0 wap ls
expect 0 wap log

chapter "A bad day: guest orders come without a customer"
readers >before
load 3 2025-03-04 -fault nulls
says customer_id
unmoved
say "A retry tells the same without running the task again:"
load 3 2025-03-04 -fault nulls
silent "orders: wrote"
say "The task is repaired, the run begun anew:"
expect 0 wap redo load/2025-03-04 --reason 'guests have a customer of their own now'
load 0 2025-03-04

chapter "Another: one part of the output is written twice"
readers >before
load 3 2025-03-05 -fault duplicates
says primary_key
unmoved
expect 0 wap redo load/2025-03-05 --reason 'no more speculative copies'
load 0 2025-03-05

chapter "Crashes: first the task dies, then wap itself"
readers >before
load 1 2025-03-06 -crash-after $((rows * 2 / 3))
unmoved
# shellcheck disable=SC2016 # the inner shell expands it
expect 137 wap run orders/dt=2025-03-06 --run load/2025-03-06 --checks checks.yaml -- sh -c "orders -rows $rows && kill -9 \$PPID"
unmoved
say "The retry publishes:"
load 0 2025-03-06
says "orders: wrote $rows rows"
say "And a retry of that does nothing, not even run the task:"
load 0 2025-03-06
says already_published
silent "orders: wrote"

chapter "A late correction: a discount that was booked after the fact changes one file of four"
mkdir corrected
expect 0 orders -day 2025-03-02 -rows "$rows" -part 2 -discount -out corrected
expect 0 wap begin orders/dt=2025-03-02 --run discount/2025-03-02 --mode replace
expect 0 wap stage orders/dt=2025-03-02 corrected/part-2.parquet --run discount/2025-03-02 --replacing part-2.parquet
readers >before
expect 0 wap audit --run discount/2025-03-02 --checks checks.yaml
unmoved
expect 0 wap publish --run discount/2025-03-02
readers >after
[ "$(comm -12 before after | grep -c .)" -eq 23 ] || die "a correction of one file of 24 left other than 23 as they were"

chapter "What readers get"
expect 0 wap files orders/dt=2025-03-02 --format lines
expect 0 wap files orders/dt=2025-03-02 --format duckdb
expect 0 wap fetch orders/dt=2025-03-02 fetched
[ "$(find fetched -name '*.parquet' | grep -c .)" -eq 4 ] || die "fetched other than 4 files"
expect 0 wap check orders/dt=2025-03-02 --checks checks.yaml

chapter "What became of it all"
expect 0 wap ls orders
expect 0 wap ls orders@3
expect 0 wap show load/2025-03-06
expect 0 wap log

chapter "Summary"
cat <<END
$commands commands, each with the exit code it should have.
6 days of $rows orders published, each once; 2 stopped at the gate and begun anew;
2 crashes that readers did not notice; 1 correction that moved one file of four.
END
