package wap

import (
	"context"
	"crypto/rand"
	"errors"
	"os"
	"sync"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/wap-cli/wap/audit"
	"github.com/wap-cli/wap/manifest"
	"github.com/wap-cli/wap/wap/store"
)

// Config is what a warehouse is worked on with.
type Config struct {
	Store    store.Store
	Location store.Location // of the store's root: the warehouse
	// OpenStore opens other roots: inputs by URL, parents of a new warehouse.
	OpenStore func(ctx context.Context, url string) (store.Store, store.Location, error)

	Now   func() time.Time // UTC; nil: the clock
	NewID func() string    // a fresh ULID; nil: random

	CommitTimeout time.Duration // of publish and every other swap; 0: 5 minutes
	StopGrace     time.Duration // of a command that was told to end; 0: 10 seconds
	Memory        int64         // bytes, for an audit; 0: audit.DefaultMemory
	Parallel      int           // requests in flight and row groups decoded at once; 0: 8 and GOMAXPROCS
	TrustStore    bool          // Init does not probe what the store does with conditions: it is known
	Version       string        // of the tool
	By            string        // user@host, for people
	Try           string        // the scheduler's own count of attempts, or empty
	Plugins       audit.Plugins // runs exec assertions; nil: they are errors
	// Notify is told what a person should know while a call goes on. May be nil;
	// called from one goroutine at a time.
	Notify func(Notice)
	// Progress is told bytes read by an audit so far and in all. May be nil.
	Progress func(done, total int64)
	// Uploading is told bytes sent of a task's files so far and in all. May be nil;
	// called from one goroutine at a time.
	Uploading func(done, total int64)
	// Sending is told when a commit's outcome opens (true) and is known again
	// (false), so that signals and panics in between do not pass for "nothing
	// happened". May be nil.
	Sending func(open bool)
}

// Notice is a line for stderr.
type Notice struct {
	Level Level
	Text  string
	Hint  string
}

// Level is how much a notice matters.
type Level string

// The levels.
const (
	Info    Level = "info"
	Warning Level = "warning"
)

// Warehouse is an open warehouse. Its methods may be called concurrently.
type Warehouse struct {
	cfg Config
	id  string

	notifying sync.Mutex
	seen      sync.Mutex
	newest    manifest.Base // the newest state this process saw: pointers never go back
}

// withDefaults fills in what was left empty.
func (c Config) withDefaults() Config {
	if c.Now == nil {
		c.Now = time.Now
	}
	now := c.Now
	c.Now = func() time.Time { return now().UTC().Truncate(time.Millisecond) }
	if c.NewID == nil {
		c.NewID = func() string { return ulid.MustNew(ulid.Now(), rand.Reader).String() }
	}
	if c.CommitTimeout == 0 {
		c.CommitTimeout = 5 * time.Minute
	}
	if c.StopGrace == 0 {
		c.StopGrace = stopGrace
	}
	if c.Memory <= 0 {
		c.Memory = audit.DefaultMemory
	}
	if c.Parallel == 0 {
		c.Parallel = 8
	}
	return c
}

// Open opens the warehouse at the store's root. Errors: no_warehouse,
// newer_format, store_broken, outside.
func Open(ctx context.Context, cfg Config) (*Warehouse, error) {
	cfg = cfg.withDefaults()
	w := &Warehouse{cfg: cfg}
	var wh manifest.Warehouse
	_, _, err := fetch(ctx, cfg.Store, manifest.WarehouseKey, &wh)
	if errors.Is(err, store.ErrNotFound) {
		return nil, failf(KindNoWarehouse, "no warehouse at %s", cfg.Location).
			hint("wap init -w %s", cfg.Location)
	}
	if err != nil {
		return nil, OpenError("open warehouse "+cfg.Location.String(), err)
	}
	w.id = wh.ID
	return w, nil
}

// ID is the warehouse's id, a ULID.
func (w *Warehouse) ID() string { return w.id }

// notify tells the caller's person something.
func (w *Warehouse) notify(level Level, text, hint string) {
	if w.cfg.Notify == nil {
		return
	}
	w.notifying.Lock()
	defer w.notifying.Unlock()
	w.cfg.Notify(Notice{level, text, hint})
}

// hostname is for people only: an unknown one is empty.
func hostname() string {
	name, err := os.Hostname()
	if err != nil {
		return ""
	}
	return name
}
