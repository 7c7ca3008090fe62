package audit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/wap-cli/wap/audit/scan"
	"github.com/wap-cli/wap/manifest"
	"golang.org/x/sync/semaphore"
)

const (
	minPageBudget = 16 << 20
	maxPageBudget = 256 << 20
	// maxRequests is how many requests are under way at once: more than a store
	// answers in the time that one takes bring nothing.
	maxRequests = 32
	// manyParts is how many partitions are judged at once at most, and among how
	// many memory is divided. Not by the parallelism, on which no report may depend.
	manyParts = 8
)

// audit is one call of Run.
type audit struct {
	opts        Options
	tokens      chan struct{} // one for each row group being decoded
	trustFooter bool
	keyMemory   int64
	scan        scan.Options
	keep        int64         // bytes of small files of one partition
	requesting  chan struct{} // one for each request under way
	ahead       *semaphore.Weighted
	aheadBytes  int64 // what ahead gives out
	bytes       atomic.Int64
	requests    atomic.Int64
	plugins     pluginBudget

	mu    sync.Mutex
	done  int64
	total int64
}

func newAudit(opts Options, parts int) *audit {
	if opts.Memory <= 0 {
		opts.Memory = DefaultMemory
	}
	if opts.Parallel <= 0 {
		opts.Parallel = runtime.GOMAXPROCS(0)
	}
	page := min(max(opts.Memory/4, minPageBudget), maxPageBudget)
	fetched := max(1, opts.Memory/16)
	return &audit{
		plugins: newPluginBudget(opts.Memory, parts),
		ahead:   semaphore.NewWeighted(fetched), aheadBytes: fetched,
		opts: opts, tokens: make(chan struct{}, opts.Parallel),
		// Half for keys, of as many partitions as may be judged at once; the rest is
		// for pages and batches.
		keyMemory: opts.Memory / 2 / int64(max(1, min(manyParts, parts))),
		keep:      opts.Memory / 16 / int64(max(1, min(manyParts, parts))), requesting: make(chan struct{}, maxRequests),
		scan: scan.Options{PageBudget: page, ReadAhead: true, Shared: &scan.Shared{Keep: opts.Memory / 8}},
	}
}

func (a *audit) acquire(ctx context.Context) error {
	select {
	case a.tokens <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// unmerged is how many row groups of a partition are read and not merged, at most.
func (a *audit) unmerged() int { return 2 * cap(a.tokens) }

func (a *audit) release() { <-a.tokens }

// Run judges each partition by its table's checks. Whatever is wrong with the
// data, or with the way to it, stands in the report; the error is ctx's end, or
// the caller's mistake: no rules for a table, no `now`.
func Run(ctx context.Context, rules *Rules, parts []Partition, opts Options) (*Report, error) {
	if opts.Now.IsZero() {
		return nil, errors.New("run audit: options without now")
	}
	parts = slices.Clone(parts)
	slices.SortFunc(parts, func(a, b Partition) int { return cmp.Compare(a.Path, b.Path) })
	configs := make([]*Config, len(parts))
	for i := range parts {
		if configs[i] = rules.For(parts[i].Table); configs[i] == nil {
			return nil, fmt.Errorf("run audit: no checks for table %q", parts[i].Table)
		}
	}
	a := newAudit(opts, len(parts))
	a.trustFooter = rules.TrustFooter
	for i := range parts {
		for _, f := range slices.Concat(parts[i].Files, parts[i].Live) {
			a.total += f.Source.Size()
		}
	}
	results, err := a.judgeAll(ctx, parts, configs)
	if err != nil {
		return nil, err
	}
	report := &Report{
		Outcome: Pass, Rules: rules.Digest(), Now: opts.Now.UTC(), TrustFooter: rules.TrustFooter,
		BytesRead: a.bytes.Load(), Requests: a.requests.Load(),
		Partitions: []PartitionReport{}, Assertions: []Result{},
	}
	for _, r := range results {
		report.Partitions = append(report.Partitions, r.partition)
		report.Assertions = append(report.Assertions, r.results...)
		report.Rows += r.partition.Rows
		report.Files += r.partition.Files
	}
	report.settle()
	return report, nil
}

// judgeAll audits several partitions at once, each of which reads several row
// groups at once; the tokens bound both together.
func (a *audit) judgeAll(ctx context.Context, parts []Partition, configs []*Config) ([]*judged, error) {
	results, errs := make([]*judged, len(parts)), make([]error, len(parts))
	seats := make(chan struct{}, min(a.opts.Parallel, manyParts))
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	// A part may wait for what one that panicked holds.
	panics := carried{stop: stop}
	var group sync.WaitGroup
	for i := range parts {
		seats <- struct{}{}
		group.Go(func() {
			defer func() { <-seats }()
			defer panics.catch()
			results[i], errs[i] = a.judge(ctx, &parts[i], configs[i])
		})
	}
	group.Wait()
	panics.again()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return results, nil
}

// progress tells that a row group is done. What is told counts the compressed
// bytes of row groups, so that it rises evenly.
func (a *audit) progress(u *unit) {
	if a.opts.Progress == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.done = min(a.done+u.file.scan.Footer().RowGroups[u.group].Bytes, a.total)
	a.opts.Progress(a.done, a.total)
}

// countedSource counts what is read through it.
type countedSource struct {
	scan.Source
	audit *audit
}

func (a *audit) counted(s scan.Source) scan.Source { return countedSource{s, a} }

func (s countedSource) ReadRange(ctx context.Context, p []byte, off int64) error {
	select {
	case s.audit.requesting <- struct{}{}:
		defer func() { <-s.audit.requesting }()
	case <-ctx.Done():
		return ctx.Err()
	}
	s.audit.requests.Add(1)
	err := s.Source.ReadRange(ctx, p, off)
	if err == nil {
		s.audit.bytes.Add(int64(len(p)))
	}
	return err
}

// judged is what an audit says about one partition.
type judged struct {
	partition PartitionReport
	results   []Result
}

func (p *judgement) report(results []Result, metrics []manifest.Metric) *judged {
	out := &judged{results: results}
	out.partition = PartitionReport{
		Path: p.part.Path, Files: int64(len(p.part.Files)), Rows: p.rows, Metrics: metrics,
	}
	for _, f := range p.part.Files {
		out.partition.Bytes += f.Source.Size()
	}
	return out
}
