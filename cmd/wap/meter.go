package main

import (
	"context"
	"fmt"
	"io"
	"iter"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/term"

	"github.com/wap-cli/wap/manifest"
	"github.com/wap-cli/wap/wap/store"
)

// meter counts what a call asks of its stores: for --stats, for progress, and
// to know whether a commit was ever sent.
type meter struct {
	create, swap, get, list, del, upload, getRange, head atomic.Int64 // requests
	read, written                                        atomic.Int64 // bytes of bulk data
	done, total                                          atomic.Int64 // bytes of an audit
	sent, toSend, sentSince                              atomic.Int64 // bytes of an upload, and when it began in nanoseconds
	open                                                 atomic.Bool  // a commit's outcome is not known

	committing sync.Mutex // guards what follows
	commits    int64      // sent and not refused
	over       bool       // none goes out any more
}

func newMeter() *meter { return &meter{} }

// commitSent reports whether a Swap of the pointer left that the store did not
// provably refuse.
func (m *meter) commitSent() bool {
	m.committing.Lock()
	defer m.committing.Unlock()
	return m.commits > 0
}

// abandon answers as commitSent does, and for good: the call may still be
// running, but none of its commits goes out any more.
func (m *meter) abandon() (sent bool) {
	m.committing.Lock()
	defer m.committing.Unlock()
	m.over = true
	return m.commits > 0
}

// beginCommit counts a commit before it is sent, so that a panic on the way
// counts. It reports whether one may be.
func (m *meter) beginCommit() bool {
	m.committing.Lock()
	defer m.committing.Unlock()
	if m.over {
		return false
	}
	m.commits++
	return true
}

// refused takes back a commit that provably changed nothing.
func (m *meter) refused() {
	m.committing.Lock()
	defer m.committing.Unlock()
	m.commits--
}

// judged is told how far an audit is, in bytes.
func (m *meter) judged(done, total int64) {
	m.done.Store(done)
	m.total.Store(total)
}

// uploaded is told how far the upload of a task's files is, in bytes.
func (m *meter) uploaded(done, total int64) {
	m.sentSince.CompareAndSwap(0, time.Now().UnixNano())
	m.sent.Store(done)
	m.toSend.Store(total)
}

// sending is told when a commit's outcome opens and when it is known again.
func (m *meter) sending(open bool) { m.open.Store(open) }

// requestCount is one line of --stats.
type requestCount struct {
	Operation string `json:"operation"`
	Requests  int64  `json:"requests"`
}

func (m *meter) requests() []requestCount {
	return []requestCount{
		{"create", m.create.Load()}, {"swap", m.swap.Load()}, {"get", m.get.Load()}, {"list", m.list.Load()},
		{"delete", m.del.Load()}, {"upload", m.upload.Load()}, {"get_range", m.getRange.Load()}, {"head", m.head.Load()},
	}
}

// watch returns s with every request counted.
func (m *meter) watch(s store.Store) store.Store { return &meteredStore{s, m} }

type meteredStore struct {
	store store.Store
	m     *meter
}

// Unwrap is for questions that are no operations.
func (s *meteredStore) Unwrap() store.Store { return s.store }

func (s *meteredStore) Create(ctx context.Context, key string, body []byte) (store.Version, error) {
	s.m.create.Add(1)
	return s.store.Create(ctx, key, body)
}

func (s *meteredStore) Swap(ctx context.Context, key string, v store.Version, body []byte) (store.Version, error) {
	s.m.swap.Add(1)
	if key != manifest.PointerKey {
		return s.store.Swap(ctx, key, v, body)
	}
	if !s.m.beginCommit() {
		return store.Version{}, fmt.Errorf("swap object %q: the call is over: %w", key, store.ErrNotSent)
	}
	next, err := s.store.Swap(ctx, key, v, body)
	if err != nil && store.Refused(err) {
		s.m.refused()
	}
	return next, err
}

func (s *meteredStore) Get(ctx context.Context, key string) ([]byte, store.Version, error) {
	s.m.get.Add(1)
	return s.store.Get(ctx, key)
}

func (s *meteredStore) List(ctx context.Context, prefix string) iter.Seq2[store.Entry, error] {
	s.m.list.Add(1)
	return s.store.List(ctx, prefix)
}

func (s *meteredStore) ListVersions(ctx context.Context, prefix string) iter.Seq2[store.Entry, error] {
	s.m.list.Add(1)
	return store.ListVersions(ctx, s.store, prefix)
}

func (s *meteredStore) Delete(ctx context.Context, key string) error {
	s.m.del.Add(1)
	return s.store.Delete(ctx, key)
}

func (s *meteredStore) Upload(ctx context.Context, key string, src io.ReaderAt, size int64) (store.Entry, error) {
	s.m.upload.Add(1)
	return s.store.Upload(ctx, key, meteredReaderAt{src, &s.m.written}, size)
}

func (s *meteredStore) GetRange(ctx context.Context, key string, off, n int64, v store.Version) (io.ReadCloser, error) {
	s.m.getRange.Add(1)
	r, err := s.store.GetRange(ctx, key, off, n, v)
	if err != nil {
		return nil, err
	}
	return meteredReader{r, &s.m.read}, nil
}

func (s *meteredStore) Head(ctx context.Context, key string) (store.Entry, error) {
	s.m.head.Add(1)
	return s.store.Head(ctx, key)
}

type meteredReaderAt struct {
	io.ReaderAt
	n *atomic.Int64
}

func (r meteredReaderAt) ReadAt(p []byte, off int64) (int, error) {
	n, err := r.ReaderAt.ReadAt(p, off)
	r.n.Add(int64(n))
	return n, err
}

type meteredReader struct {
	io.ReadCloser
	n *atomic.Int64
}

func (r meteredReader) Read(p []byte) (int, error) {
	n, err := r.ReadCloser.Read(p)
	r.n.Add(int64(n))
	return n, err
}

// Progress appears after a second; on a terminal as a line that is drawn again,
// elsewhere as a line every ten seconds.
const (
	terminalStep = 200 * time.Millisecond
	terminalLag  = time.Second
	plainStep    = 10 * time.Second
)

// show prints progress until stop is called.
func (m *meter) show(p *page, off bool) (stop func()) {
	if off || p.quiet {
		return func() {}
	}
	step := plainStep
	f, ok := p.stderr.(*os.File)
	terminal := ok && term.IsTerminal(int(f.Fd()))
	if terminal {
		step = terminalStep
	}
	over := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		started := time.Now()
		ticks := time.NewTicker(step)
		defer ticks.Stop()
		for {
			select {
			case <-over:
				p.draw("", terminal)
				return
			case now := <-ticks.C:
				if now.Sub(started) >= terminalLag {
					p.draw(m.moved(), terminal)
				}
			}
		}
	})
	return func() { close(over); wg.Wait() }
}

// moved says how far the call is, or nothing while no bulk data is moved.
func (m *meter) moved() string {
	read, written := m.read.Load(), m.written.Load()
	if sent, all := m.sent.Load(), m.toSend.Load(); sent < all {
		return upload(sent, all, time.Duration(time.Now().UnixNano()-m.sentSince.Load()))
	}
	if done, total := m.done.Load(), m.total.Load(); done < total {
		return fmt.Sprintf("audited %s of %s", size(done), size(total))
	}
	if read == 0 && written == 0 {
		return ""
	}
	return fmt.Sprintf("read %s, wrote %s", size(read), size(written))
}

// upload says how far an upload is, how fast it went and how long it will take
// at this speed.
func upload(sent, all int64, took time.Duration) string {
	text := fmt.Sprintf("uploaded %s of %s", size(sent), size(all))
	if took < time.Second || sent == 0 {
		return text
	}
	speed := float64(sent) / took.Seconds()
	left := time.Duration(float64(all-sent) / speed * float64(time.Second)).Round(time.Second)
	return fmt.Sprintf("%s, %s/s, %s left", text, size(int64(speed)), left)
}

// draw replaces the progress line; an empty text removes it.
func (p *page) draw(text string, terminal bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if text == p.drawn {
		return
	}
	p.clear()
	p.drawn = text
	switch {
	case text == "":
	case terminal:
		fmt.Fprintf(p.stderr, "wap: %s", text)
		p.progress = text
	default:
		fmt.Fprintf(p.stderr, "wap: %s\n", text)
	}
}
