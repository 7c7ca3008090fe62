package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
)

// rowsPerFile is how often a task closes a file: its rows become visible, where
// the sink shows them, in steps of this size.
const rowsPerFile = 12

// job is one attempt of one task, as its process is told of it.
type job struct {
	task       int
	out        string // folder
	name       string // prefix of the file names
	crashAfter int    // rows after which the process kills itself; 0 for never
	gate       string // socket to wait at when the first file is written; "" for none
}

func parseJob(args []string, getenv func(string) string, stderr io.Writer) (job, error) {
	var j job
	flags := flag.NewFlagSet("ledger task", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&j.out, "out", getenv("WAP_OUT"), "folder for the files (default: $WAP_OUT)")
	flags.StringVar(&j.name, "name", "part", "how the file names begin")
	flags.IntVar(&j.crashAfter, "crash-after", 0, "kill this process after so many rows")
	flags.StringVar(&j.gate, "gate", "", "socket to wait at after the first file")
	if err := flags.Parse(args); err != nil {
		return job{}, err
	}
	if flags.NArg() != 1 {
		return job{}, errors.New("want one task number")
	}
	n, err := strconv.Atoi(flags.Arg(0))
	if err != nil || n < 0 || n >= tasks {
		return job{}, fmt.Errorf("task %q: want 0 to %d", flags.Arg(0), tasks-1)
	}
	if j.out == "" {
		return job{}, errors.New("no folder to write to: set -out or WAP_OUT")
	}
	j.task = n
	return j, nil
}

// work writes the task's rows. With crashAfter it does not return.
func (j job) work() error {
	if err := os.MkdirAll(j.out, 0o777); err != nil {
		return err
	}
	rows := entries(j.task)
	for done := 0; done < len(rows); {
		next := min(done+rowsPerFile, len(rows))
		name := fmt.Sprintf("%s-%02d-%04d.parquet", j.name, j.task, done/rowsPerFile)
		if err := writeEntries(filepath.Join(j.out, name), j.task, rows[done:next]); err != nil {
			return err
		}
		if done == 0 && j.gate != "" {
			if err := waitAt(j.gate); err != nil {
				return err
			}
		}
		if done = next; j.crashAfter > 0 && done >= j.crashAfter {
			return die()
		}
	}
	return nil
}

// die ends this process as the kernel's out-of-memory killer does: no handler
// and no deferred call runs.
func die() error {
	self, err := os.FindProcess(os.Getpid())
	if err != nil {
		return err
	}
	if err := self.Kill(); err != nil {
		return err
	}
	select {} // the signal is on its way
}
