// Command ledger is the nightly ledger that "make demo-failures" runs: sixteen
// tasks write the turnover of 796 customers, and something goes wrong.
//
//	ledger task N        one task: its rows as Parquet files in $WAP_OUT
//	ledger run -wap PATH five failures, each against three sinks, as real processes
//
// It exits with 1 unless the books are exact every time wap is the sink.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	var err error
	switch {
	case len(args) > 0 && args[0] == "task":
		var j job
		if j, err = parseJob(args[1:], os.Getenv, stderr); err == nil {
			err = j.work()
		}
	case len(args) > 0 && args[0] == "run":
		err = runNights(ctx, args[1:], stdout, stderr)
	default:
		err = errors.New("want: ledger task N, or ledger run -wap PATH")
	}
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err != nil {
		fmt.Fprintln(stderr, "ledger:", err)
		return 1
	}
	return 0
}

func runNights(ctx context.Context, args []string, stdout, stderr io.Writer) (err error) {
	flags := flag.NewFlagSet("ledger run", flag.ContinueOnError)
	flags.SetOutput(stderr)
	path := flags.String("wap", "bin/wap", "path of the wap binary")
	if err := flags.Parse(args); err != nil {
		return err
	}
	var bin programs
	if bin.wap, err = filepath.Abs(*path); err != nil {
		return err
	}
	if bin.ledger, err = os.Executable(); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "ledger")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	results, err := nights(ctx, dir, bin)
	if err != nil {
		return err
	}
	if err := render(stdout, results); err != nil {
		return err
	}
	return verdict(results)
}

// render prints the table of results.
func render(w io.Writer, results []result) error {
	const line = "%-48s  %-23s  %9s  %6s  %11s  %10s\n"
	_, err := fmt.Fprintf(w, "The books of the night: %d customers, %s cents, in %d tasks.\n\n"+line,
		customers, grouped(cents), tasks, "failure", "sink", "processes", "rows", "cents", "duplicates")
	for _, r := range results {
		_, e := fmt.Fprintf(w, line, r.failure, r.sink, grouped(int64(r.processes)), grouped(int64(r.rows)), grouped(r.cents), grouped(int64(r.duplicates)))
		err = errors.Join(err, e)
	}
	return err
}

// verdict is nil when wap's books were exact every time.
func verdict(results []result) error {
	nightsOfWap := 0
	for _, r := range results {
		if r.sink != (&wapSink{}).name() {
			continue
		}
		nightsOfWap++
		if !r.exact() {
			return fmt.Errorf("%s: %s: %d rows, %d cents, %d duplicates, want %d, %d and 0",
				r.sink, r.failure, r.rows, r.cents, r.duplicates, customers, cents)
		}
	}
	if want := len(failures()); nightsOfWap != want {
		return fmt.Errorf("wap ran %d nights, want %d", nightsOfWap, want)
	}
	return nil
}

// grouped writes n with a comma between thousands.
func grouped(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
