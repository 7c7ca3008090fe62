package wap

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/wap-cli/wap/audit"
	"github.com/wap-cli/wap/audit/scan"
	"github.com/wap-cli/wap/manifest"
	"github.com/wap-cli/wap/wap/store"
)

// compared gives an audit what it compares a candidate with. It reads the state
// that was newest when it was first asked, and keeps what was asked of it.
type compared struct {
	w     *Warehouse
	c     *candidate // nil outside a run
	rules *audit.Rules

	lock  sync.Mutex
	st    *state
	reads []Read
}

// absent is an error about what will not be there later either.
func absent(format string, args ...any) error {
	return errors.Join(fmt.Errorf(format, args...), audit.ErrAbsent)
}

// state reads the newest one, once.
func (c *compared) state(ctx context.Context) (*state, error) {
	c.lock.Lock()
	defer c.lock.Unlock()
	if c.st != nil {
		return c.st, nil
	}
	err := c.w.reading(ctx, func(h *head) (err error) {
		c.st, err = c.w.at(ctx, h.base())
		return err
	})
	return c.st, err
}

// note keeps what was read, each question once.
func (c *compared) note(r Read) {
	c.lock.Lock()
	defer c.lock.Unlock()
	if !slices.ContainsFunc(c.reads, r.same) {
		c.reads = append(c.reads, r)
	}
}

// noteURL keeps which versions lie at a URL, before they are read.
func (c *compared) noteURL(ctx context.Context, name string) error {
	if !isURL(name) {
		return nil
	}
	objects, _, err := (&Warehouse{cfg: c.w.cfg}).listURL(ctx, name)
	if err != nil {
		return forGood(err)
	}
	c.note(Read{Path: name, Found: versionsOf(objects)})
	return nil
}

// forGood marks an error that no retry will end: a URL of no store, a bucket that
// is not there.
func forGood(err error) error {
	if isKind(err, KindNotFound) || isKind(err, KindUsage) {
		return absent("%w", err)
	}
	return err
}

// noted are the reads, in an order that does not depend on who asked first.
func (c *compared) noted() []Read {
	out := append([]Read{}, c.reads...)
	slices.SortFunc(out, func(a, b Read) int {
		return strings.Compare(a.Path+fmt.Sprint(a.Baseline != nil, a.Baseline), b.Path+fmt.Sprint(b.Baseline != nil, b.Baseline))
	})
	return out
}

// Baseline implements audit.Published. States are read from manifests, so that
// no data is.
func (c *compared) Baseline(ctx context.Context, p *audit.Partition, want audit.Baseline) ([]*manifest.Manifest, error) {
	st, err := c.state(ctx)
	if err != nil {
		return nil, err
	}
	switch want.Axis {
	case audit.AxisLive:
		found, err := Read{Path: p.Path}.again(ctx, st)
		if err != nil {
			return nil, err
		}
		c.note(Read{Path: p.Path, Found: found})
		return c.w.manifests(ctx, found)
	case audit.AxisHistory:
		past := pastStates{at: p.Path, limit: want.Limit}
		if c.c != nil {
			past.but = c.c.rec.names()
		}
		refs, err := c.w.history(ctx, st, past)
		if err != nil {
			return nil, err
		}
		c.note(Read{Path: p.Path, Baseline: &want, Found: refs})
		return c.w.manifests(ctx, refs)
	}
	_, refs, err := st.chosen(ctx, p.Partition, want)
	if err != nil {
		return nil, err
	}
	c.note(Read{Path: p.Path, Baseline: &want, Found: refs})
	return c.w.manifests(ctx, refs)
}

// manifests reads several at once.
func (w *Warehouse) manifests(ctx context.Context, refs []manifest.Ref) ([]*manifest.Manifest, error) {
	out := make([]*manifest.Manifest, len(refs))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(w.cfg.Parallel)
	for i, ref := range refs {
		g.Go(func() (err error) {
			out[i], err = load[manifest.Manifest](ctx, w, ref)
			return err
		})
	}
	return out, g.Wait()
}

// Data implements audit.Published.
func (c *compared) Data(ctx context.Context, p *audit.Partition, want audit.Reference) ([]audit.Partition, error) {
	switch {
	case len(want.Files) > 0:
		// What lies on this machine is not looked at again: the publish may run on
		// another.
		for _, name := range want.Files {
			if err := c.noteURL(ctx, name); err != nil {
				return nil, err
			}
		}
		return c.w.cfg.filesAt(ctx, want.Files)
	case want.Live:
		return c.live(ctx, p.Path)
	}
	ref, err := manifest.ParsePathRef(want.Path)
	if err != nil {
		return nil, absent("%s: %w", want.Path, err)
	}
	if ref.Ref != "" {
		return c.dataAt(ctx, want.Path, ref)
	}
	st, err := c.state(ctx)
	if err != nil {
		return nil, err
	}
	files, _, err := st.files(ctx, ref.Path)
	if err != nil {
		return nil, err
	}
	found, err := Read{Path: ref.Path}.again(ctx, st)
	if err != nil {
		return nil, err
	}
	c.note(Read{Path: ref.Path, Found: found})
	parts := c.w.partitions(files)
	if !want.Published {
		parts = c.withCandidate(ref.Path, parts)
	}
	if len(parts) == 0 {
		return nil, absent("nothing is published at %s", want.Path)
	}
	return parts, nil
}

// live is what a partition holds for readers.
func (c *compared) live(ctx context.Context, at string) ([]audit.Partition, error) {
	st, err := c.state(ctx)
	if err != nil {
		return nil, err
	}
	found, err := Read{Path: at}.again(ctx, st)
	if err != nil {
		return nil, err
	}
	c.note(Read{Path: at, Found: found})
	files, _, err := st.files(ctx, at)
	return c.w.partitions(files), err
}

// dataAt reads an older state, which does not change. At a time that is to come
// it still would.
func (c *compared) dataAt(ctx context.Context, name string, ref manifest.PathRef) ([]audit.Partition, error) {
	if now := c.w.cfg.Now(); ref.Time().After(now) {
		return nil, absent("%s: that time is still to come: it is %s; without a time the newest state is taken", name, now.Format(time.RFC3339))
	}
	var out []audit.Partition
	err := c.w.reading(ctx, func(h *head) error {
		base, err := c.w.resolve(ctx, h, manifest.PathRef{Ref: ref.Ref})
		if err != nil {
			return err
		}
		st, err := c.w.at(ctx, base)
		if err != nil {
			return err
		}
		files, _, err := st.files(ctx, ref.Path)
		out = c.w.partitions(files)
		return err
	})
	switch {
	case isKind(err, KindNotFound), isKind(err, KindUsage), errors.Is(err, errGone):
		return nil, absent("%s: %w", name, err)
	case err == nil && len(out) == 0:
		return nil, absent("%s: nothing is there", name)
	}
	return out, err
}

// withCandidate puts the candidate's partitions at or below a path in place of
// those that they replace: what is compared is what readers will see.
func (c *compared) withCandidate(at string, parts []audit.Partition) []audit.Partition {
	if c.c == nil {
		return parts
	}
	for _, p := range c.c.partitions {
		if p.partition.Path != at && !strings.HasPrefix(p.partition.Path, at+"/") {
			continue
		}
		parts = slices.DeleteFunc(parts, func(o audit.Partition) bool { return o.Path == p.partition.Path })
		if !p.emptied {
			files := c.w.auditFiles(append(c.c.kept(p), p.files...))
			part := p.partition
			part.Keys = keyTypes(p, c.rules)
			parts = append(parts, audit.Partition{Partition: part, Mode: manifest.ModeOverwrite, Files: files})
		}
	}
	slices.SortFunc(parts, func(a, b audit.Partition) int { return strings.Compare(a.Path, b.Path) })
	return parts
}

// partitions groups files that are sorted by partition.
func (w *Warehouse) partitions(files []liveFile) []audit.Partition {
	var out []audit.Partition
	for _, f := range files {
		if n := len(out); n == 0 || out[n-1].Path != f.Partition.Path {
			out = append(out, audit.Partition{Partition: f.Partition, Mode: manifest.ModeOverwrite})
		}
		last := &out[len(out)-1]
		last.Files = append(last.Files, w.auditFiles([]manifest.File{f.File})...)
	}
	return out
}

// filesAt collects local files, folders and URLs.
func (c Config) filesAt(ctx context.Context, names []string) ([]audit.Partition, error) {
	c.Store = nil // never a path of the warehouse
	set := newChecked(c)
	for _, name := range names {
		if err := set.add(ctx, name); err != nil {
			return nil, forGood(err)
		}
	}
	return set.sorted(), nil
}

// Controls implements audit.Published: of a run's own control files, or of one
// that a URL names.
func (c *compared) Controls(ctx context.Context, name string) ([]manifest.Control, error) {
	if isURL(name) {
		if err := c.noteURL(ctx, name); err != nil {
			return nil, err
		}
		return c.w.cfg.controlsAt(ctx, name)
	}
	if c.c == nil {
		return nil, absent("control file %s: there is no run whose task could have written it", name)
	}
	var out []manifest.Control
	var files []string
	for _, x := range c.c.controls {
		if x.File == name {
			out = append(out, x)
		}
		files = append(files, x.File)
	}
	if len(out) > 0 {
		return out, nil
	}
	slices.Sort(files)
	switch files = slices.Compact(files); {
	case len(files) == 0:
		return nil, absent("no task declared anything in the control file %s: it belongs into $WAP_OUT/_control/", name)
	default:
		return nil, absent("no task declared anything in the control file %s, only in %s", name, strings.Join(files, ", "))
	}
}

// InputRows implements audit.Published.
func (c *compared) InputRows(ctx context.Context) (int64, error) {
	if c.c == nil {
		return 0, absent("there is no run whose inputs could be counted")
	}
	if n := len(c.c.partitions); n > 1 {
		return 0, absent("the run writes %d partitions, and its inputs' rows are those of all of them", n)
	}
	if len(c.c.inputs) == 0 {
		return 0, absent("the run has no pinned input: begin it with --input")
	}
	var total int64
	counted := map[manifest.Ref]bool{} // a listing that tasks share counts once
	for _, ref := range c.c.inputs {
		if counted[ref.Ref] {
			continue
		}
		counted[ref.Ref] = true
		inputs, err := load[manifest.Inputs](ctx, c.w, ref.Ref)
		if err != nil {
			return 0, err
		}
		for _, in := range inputs.Inputs {
			rows, err := c.w.rowsOf(ctx, in)
			if err != nil {
				return 0, err
			}
			total += rows
		}
	}
	return total, nil
}

// rowsOf counts the rows of a pinned input; where only the files know, by their
// footers.
func (w *Warehouse) rowsOf(ctx context.Context, in manifest.Input) (int64, error) {
	from, total := store.Bulk(w.cfg.Store), int64(0)
	if in.Snapshot == nil {
		st, _, err := w.inputStore(ctx, in)
		if err != nil {
			return 0, err
		}
		from = st
	}
	for _, o := range in.Objects {
		if o.Rows >= 0 {
			total += o.Rows
			continue
		}
		src := &storeSource{from, o.Key, o.Size, store.Version{ETag: o.ETag, ID: o.VersionID}}
		f, err := scan.Open(ctx, src, scan.Options{})
		var bad *scan.Error
		switch {
		case errors.As(err, &bad), errors.Is(err, scan.ErrNotParquet):
			return 0, absent("input %s is no Parquet file, whose rows could be counted: %w", o.URL, err)
		case err != nil:
			return 0, outside("read input %s", o.URL).because(err)
		}
		total += f.Footer().Rows
	}
	return total, nil
}
