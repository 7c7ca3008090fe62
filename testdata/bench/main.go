// Command bench compares `wap check` with DuckDB, and both with what reading and
// decompressing the same pages costs alone. Each runs in a process of its own,
// in turns, on the same files and assertions; both must find the same numbers.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"time"
)

func main() {
	err := part(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// part runs one of the parts that need a process of their own, or all.
func part(args []string) error {
	switch {
	case len(args) == 4 && args[0] == "floor":
		return floor(args[1], listOf(args[2]), listOf(args[3]))
	case len(args) == 4 && args[0] == "slow":
		return auditSlowly(args[1], args[2], args[3])
	case len(args) == 3 && args[0] == "write-pages":
		rows, err := strconv.ParseInt(args[2], 10, 64)
		if err != nil {
			return fmt.Errorf("read number of rows: %w", err)
		}
		return writePages(args[1], rows)
	}
	return run(args, os.Stdout, os.Stderr)
}

func (b *bench) wants(d dataset, t task) bool { return b.only.MatchString(d.name + ": " + t.name) }

func processors() int { return runtime.GOMAXPROCS(0) }

// bench is one run of the comparison.
type bench struct {
	wap, duck   string
	dir         string
	flights     string
	memory      string
	rows, keys  int64
	repeat      int
	threads     int
	latency     time.Duration
	only        *regexp.Regexp
	out, log    io.Writer
	comparisons []comparison
}

func run(args []string, stdout, stderr io.Writer) error {
	b := bench{out: stdout, log: stderr}
	only := ""
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&b.wap, "wap", "bin/wap", "the `program` to measure")
	flags.StringVar(&b.duck, "duck", "", "the `program` built from ./duck")
	flags.StringVar(&b.dir, "dir", filepath.Join(os.TempDir(), "wap-bench"), "`folder` that keeps the data between runs")
	flags.StringVar(&b.flights, "flights", "", "`file` of real flights, left out when it is not there")
	flags.StringVar(&b.memory, "memory", "512MiB", "wap's `budget`")
	flags.Int64Var(&b.rows, "rows", 20_000_000, "`rows` of each data set made here")
	flags.Int64Var(&b.keys, "keys", 0, "`rows` of one more data set, of a string key alone, that only wap reads; 0: none")
	flags.IntVar(&b.repeat, "repeat", 5, "how `often` each comparison runs")
	flags.IntVar(&b.threads, "threads", runtime.NumCPU(), "threads of each program")
	flags.DurationVar(&b.latency, "latency", 30*time.Millisecond, "what each request of the slow store `takes`; 0: none is asked")
	flags.StringVar(&only, "only", "", "run only what matches this `expression`, as in `main: fused`")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 || b.rows < 1 || b.repeat < 1 || b.threads < 1 || b.duck == "" {
		return errors.New("bad arguments: see -help; -duck is needed, and no number below 1")
	}
	var err error
	if b.only, err = regexp.Compile(only); err != nil {
		return fmt.Errorf("read -only: %w", err)
	}
	sets, err := b.datasets()
	if err != nil {
		return err
	}
	for _, d := range sets {
		for _, t := range d.tasks() {
			if !b.wants(d, t) {
				continue
			}
			c, err := b.compare(d, t)
			if err != nil {
				return fmt.Errorf("compare %s, %s: %w", d.name, t.name, err)
			}
			b.comparisons = append(b.comparisons, c)
		}
	}
	if err := b.print(); err != nil {
		return err
	}
	for _, d := range sets {
		if err := b.slowStore(d); err != nil {
			return fmt.Errorf("read %s slowly: %w", d.name, err)
		}
	}
	return nil
}
