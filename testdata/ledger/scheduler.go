package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// nightLimit ends a night in which some process never does.
const nightLimit = 5 * time.Minute

// undisturbed is how many ordinary tasks run at a time.
const undisturbed = 4

// scheduler runs the tasks of one night into one sink.
type scheduler struct {
	sink      sink
	gate      *gate
	processes int // started so far
}

// result is what a reader finds in the morning.
type result struct {
	sink, failure string
	processes     int
	rows          int
	cents         int64
	duplicates    int // rows beyond the first of a customer
}

// exact reports whether the books are right.
func (r result) exact() bool {
	return r.rows == customers && r.cents == cents && r.duplicates == 0
}

// programs are the paths of the two binaries.
type programs struct{ ledger, wap string }

// nights runs every failure against every sink. In dir it leaves nothing.
func nights(ctx context.Context, dir string, bin programs) ([]result, error) {
	var results []result
	for _, f := range failures() {
		sinks := []sink{&appendSink{ledger: bin.ledger}, &attemptSink{ledger: bin.ledger}, &wapSink{ledger: bin.ledger, wap: bin.wap}}
		for _, s := range sinks {
			r, err := runNight(ctx, dir, s, f)
			if err != nil {
				return nil, fmt.Errorf("%s: %s: %w", s.name(), f.name, err)
			}
			results = append(results, r)
		}
	}
	return results, nil
}

func runNight(ctx context.Context, dir string, into sink, f failure) (r result, err error) {
	ctx, cancel := context.WithTimeout(ctx, nightLimit)
	defer cancel()
	own, err := os.MkdirTemp(dir, "night")
	if err != nil {
		return result{}, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(own)) }()
	g, err := openGate(own)
	if err != nil {
		return result{}, err
	}
	defer func() { err = errors.Join(err, g.close()) }()
	store := filepath.Join(own, "sink")
	if err := os.Mkdir(store, 0o777); err != nil {
		return result{}, err
	}
	if err := into.prepare(ctx, store); err != nil {
		return result{}, err
	}
	s := &scheduler{sink: into, gate: g}
	if err := s.runOthers(ctx, f.struck); err != nil {
		return result{}, err
	}
	if err := f.strike(ctx, s); err != nil {
		return result{}, err
	}
	r, err = read(ctx, into)
	r.failure, r.processes = f.name, s.processes
	return r, err
}

// runOthers runs all tasks but struck, a few at a time.
func (s *scheduler) runOthers(ctx context.Context, struck []int) error {
	var running []*process
	for task := range tasks {
		if slices.Contains(struck, task) {
			continue
		}
		if len(running) == undisturbed {
			if err := running[0].wait(ctx, exitDone); err != nil {
				return err
			}
			running = running[1:]
		}
		p, err := s.start(ctx, attempt{task: task})
		if err != nil {
			return err
		}
		running = append(running, p)
	}
	for _, p := range running {
		if err := p.wait(ctx, exitDone); err != nil {
			return err
		}
	}
	return nil
}

func (s *scheduler) start(ctx context.Context, a attempt) (*process, error) {
	s.processes++
	return start(s.sink.command(ctx, a))
}

// finish runs an attempt that has to succeed.
func (s *scheduler) finish(ctx context.Context, a attempt) error {
	p, err := s.start(ctx, a)
	if err != nil {
		return err
	}
	return p.wait(ctx, exitDone)
}

// startHeld starts an attempt and returns when it waits at the gate.
func (s *scheduler) startHeld(ctx context.Context, a attempt) (*process, net.Conn, error) {
	a.gate = s.gate.path
	p, err := s.start(ctx, a)
	if err != nil {
		return nil, nil, err
	}
	conn, err := s.gate.next(ctx, p)
	return p, conn, err
}

// read adds up what a reader of the sink sees.
func read(ctx context.Context, from sink) (result, error) {
	names, err := from.files(ctx)
	if err != nil {
		return result{}, err
	}
	r := result{sink: from.name()}
	seen := map[int64]bool{}
	for _, name := range names {
		rows, err := readEntries(name)
		if err != nil {
			return result{}, err
		}
		for _, e := range rows {
			r.rows++
			r.cents += e.cents
			if seen[e.customer] {
				r.duplicates++
			}
			seen[e.customer] = true
		}
	}
	return r, nil
}
