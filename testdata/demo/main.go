// Command demo writes one day of a shop's order lines as Parquet files: the task
// that "make demo" runs. The same flags give the same bytes.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"time"
)

// partsPerDay is how many files a day has, one for each six hours.
const partsPerDay = 4

// options says which rows to write, and what is to go wrong.
type options struct {
	date       time.Time
	out        string // folder for the files
	rows       int    // of the whole day
	part       int    // the only part to write, or allParts
	fault      string // "", faultNulls or faultDuplicates
	discount   bool   // amounts with the coupon's discount, which the shop books late
	crashAfter int    // rows after which the process kills itself; 0 for never
}

const (
	allParts        = -1
	faultNulls      = "nulls"
	faultDuplicates = "duplicates"
)

func main() {
	os.Exit(run(os.Args[1:], os.Getenv, os.Stdout, os.Stderr))
}

func run(args []string, getenv func(string) string, stdout, stderr io.Writer) int {
	opts, err := parse(args, getenv, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err != nil {
		fmt.Fprintln(stderr, "orders:", err)
		return 2
	}
	rows, files, err := writeDay(opts)
	if err != nil {
		fmt.Fprintln(stderr, "orders:", err)
		return 1
	}
	fmt.Fprintf(stdout, "orders: wrote %d rows of %s in %d files\n", rows, opts.date.Format(time.DateOnly), files)
	return 0
}

func parse(args []string, getenv func(string) string, stderr io.Writer) (options, error) {
	var opts options
	flags := flag.NewFlagSet("orders", flag.ContinueOnError)
	flags.SetOutput(stderr)
	day := flags.String("day", getenv("WAP_KEY_DT"), "the day, as in 2025-03-01 (default: $WAP_KEY_DT)")
	flags.StringVar(&opts.out, "out", getenv("WAP_OUT"), "folder for the files (default: $WAP_OUT)")
	flags.IntVar(&opts.rows, "rows", 200_000, "rows of the whole day")
	flags.IntVar(&opts.part, "part", allParts, "write this part of the day alone: 0 to 3, or -1 for all")
	flags.StringVar(&opts.fault, "fault", "", "what is wrong with the day: nulls (in customer_id) or duplicates (one part twice)")
	flags.BoolVar(&opts.discount, "discount", false, "amounts with the coupon's discount")
	flags.IntVar(&opts.crashAfter, "crash-after", 0, "kill this process after so many rows")
	if err := flags.Parse(args); err != nil {
		return options{}, err
	}
	if flags.NArg() > 0 {
		return options{}, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	var err error
	if opts.date, err = time.Parse(time.DateOnly, *day); err != nil {
		return options{}, fmt.Errorf("parse day %q: want a date as in 2025-03-01", *day)
	}
	switch {
	case opts.out == "":
		return options{}, errors.New("no folder to write to: set -out or WAP_OUT")
	case opts.rows < partsPerDay:
		return options{}, fmt.Errorf("%d rows: want at least %d", opts.rows, partsPerDay)
	case opts.part < allParts || opts.part >= partsPerDay:
		return options{}, fmt.Errorf("part %d: want 0 to %d", opts.part, partsPerDay-1)
	case opts.fault != "" && opts.fault != faultNulls && opts.fault != faultDuplicates:
		return options{}, fmt.Errorf("fault %q: want %s or %s", opts.fault, faultNulls, faultDuplicates)
	}
	return opts, nil
}
