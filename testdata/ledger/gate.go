package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
)

// gate holds processes up until it is told to let them on, so that attempts
// overlap where a failure wants them to. It is a socket: a process that waits at
// it notices when whoever drives the night is gone.
type gate struct {
	path     string
	listener net.Listener
	arrivals chan net.Conn
}

func openGate(dir string) (*gate, error) {
	path := filepath.Join(dir, "gate")
	listener, err := net.Listen("unix", path)
	if err != nil {
		return nil, err
	}
	g := &gate{path: path, listener: listener, arrivals: make(chan net.Conn, 2*tasks)}
	go func() {
		defer close(g.arrivals)
		for {
			conn, err := listener.Accept()
			if err != nil {
				return // closed
			}
			g.arrivals <- conn
		}
	}()
	return g, nil
}

// close turns away whoever still waits.
func (g *gate) close() error {
	err := g.listener.Close()
	for conn := range g.arrivals {
		err = errors.Join(err, conn.Close())
	}
	return err
}

// next returns the next process that arrives. It is an error when p, which is
// expected to arrive, ends instead.
func (g *gate) next(ctx context.Context, p *process) (net.Conn, error) {
	select {
	case conn, ok := <-g.arrivals:
		if !ok {
			return nil, errors.New("wait for a process at the gate: gate is closed")
		}
		return conn, nil
	case <-p.ended:
		return nil, fmt.Errorf("%s did not reach the gate: exit %d\n%s", p, p.code, p.output.String())
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// open lets one waiting process go on.
func open(conn net.Conn) error {
	_, err := conn.Write([]byte{1})
	return errors.Join(err, conn.Close())
}

// waitAt is the other side: it returns when the gate at path opens.
func waitAt(path string) error {
	conn, err := net.Dial("unix", path)
	if err != nil {
		return fmt.Errorf("wait at gate: %w", err)
	}
	_, err = io.ReadFull(conn, make([]byte, 1))
	if err != nil {
		err = fmt.Errorf("wait at gate: %w", err)
	}
	return errors.Join(err, conn.Close())
}
