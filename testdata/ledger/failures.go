package main

import (
	"context"
	"errors"
	"net"
)

// failure is what goes wrong in a night.
type failure struct {
	name string
	// struck are the tasks that it concerns. They run last, when all the others
	// are done, so that their first success completes the night and whatever
	// comes after it is as late as can be.
	struck []int
	strike func(ctx context.Context, s *scheduler) error
}

func failures() []failure {
	return []failure{
		{"task 3 done, its message lost, run again", []int{3}, loseMessage},
		{"task 4 killed after 36 rows, run again", []int{4}, crash},
		{"task 5 thought dead, ends after its retry began", []int{5}, zombie},
		{"task 7 and a speculative copy at once", []int{7}, speculate},
		{"scheduler restarts while all 16 run", allTasks(), restart},
	}
}

// Exit codes of an attempt. A late one may be told that it lost: it published
// nothing, and the first one stands.
const (
	exitDone   = 0
	exitFailed = 1
	exitLost   = 4
	exitKilled = -1
)

func loseMessage(ctx context.Context, s *scheduler) error {
	for try := range 2 {
		if err := s.finish(ctx, attempt{task: 3, try: try}); err != nil {
			return err
		}
	}
	return nil
}

func crash(ctx context.Context, s *scheduler) error {
	p, err := s.start(ctx, attempt{task: 4, crashAfter: 36})
	if err != nil {
		return err
	}
	if err := p.wait(ctx, exitKilled, exitFailed); err != nil {
		return err
	}
	return s.finish(ctx, attempt{task: 4, try: 1})
}

func zombie(ctx context.Context, s *scheduler) error {
	undead, undeadAtGate, err := s.startHeld(ctx, attempt{task: 5})
	if err != nil {
		return err
	}
	retry, retryAtGate, err := s.startHeld(ctx, attempt{task: 5, try: 1})
	if err != nil {
		return err
	}
	if err := errors.Join(open(undeadAtGate), undead.wait(ctx, exitDone)); err != nil {
		return err
	}
	return errors.Join(open(retryAtGate), retry.wait(ctx, exitDone, exitLost))
}

func speculate(ctx context.Context, s *scheduler) error {
	return s.overlap(ctx, []int{7})
}

func restart(ctx context.Context, s *scheduler) error {
	return s.overlap(ctx, allTasks())
}

func allTasks() []int {
	all := make([]int, tasks)
	for i := range all {
		all[i] = i
	}
	return all
}

// overlap starts every one of the tasks, then every one again, and lets them on
// together when all of them are half done.
func (s *scheduler) overlap(ctx context.Context, numbers []int) error {
	var gates []net.Conn
	attempts := map[int][]*process{}
	for try := range 2 {
		for _, task := range numbers {
			p, atGate, err := s.startHeld(ctx, attempt{task: task, try: try})
			if err != nil {
				return err
			}
			gates = append(gates, atGate)
			attempts[task] = append(attempts[task], p)
		}
	}
	for _, g := range gates {
		if err := open(g); err != nil {
			return err
		}
	}
	for _, task := range numbers {
		first, second := attempts[task][0], attempts[task][1]
		if err := errors.Join(first.wait(ctx, exitDone, exitLost), second.wait(ctx, exitDone, exitLost)); err != nil {
			return err
		}
		if first.code != exitDone && second.code != exitDone {
			return errors.Join(first.wait(ctx, exitDone), second.wait(ctx, exitDone))
		}
	}
	return nil
}
