package wap

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/wap-cli/wap/audit"
	"github.com/wap-cli/wap/manifest"
	"github.com/wap-cli/wap/wap/store"
)

// Check judges any Parquet files by some rules, without a run. An existing local
// path or a URL wins over a partition; of a folder, each key folder is a
// partition. Errors: usage, not_found, gate_closed, not_evaluated, outside.
func Check(ctx context.Context, cfg Config, req CheckRequest) (*CheckResult, error) {
	cfg = cfg.withDefaults()
	if req.Rules == nil {
		return nil, failf(KindUsage, "no assertions are named").hint("--checks FILE, or --checks builtin for the built-in ones alone")
	}
	c := newChecked(cfg)
	for _, t := range req.Targets {
		if err := c.add(ctx, t); err != nil {
			return nil, err
		}
	}
	now := req.Now
	if now.IsZero() {
		now = cfg.Now()
	}
	now = now.UTC().Truncate(time.Millisecond)
	if req.Baseline != "" {
		cfg.Memory /= 2 // the baseline is measured while targets are judged
	}
	with, err := c.against(ctx, req, now)
	if err != nil {
		return nil, err
	}
	report, err := audit.Run(ctx, req.Rules, c.partitions(req.Rules), audit.Options{
		Now: now, Published: with, Memory: cfg.Memory, Plugins: cfg.Plugins, Progress: cfg.Progress,
	})
	if err != nil {
		return nil, outside("check").because(err)
	}
	res := &CheckResult{report}
	blocking := report.Blocking()
	switch {
	case len(blocking) == 0:
		return res, nil
	case report.OutsideOnly():
		return res, failf(KindNotEvaluated, "could not be judged: %s", firstBlocking(report)).hint("retry later")
	}
	return res, failf(KindGateClosed, "%d of %d assertions failed, first %s", len(blocking), len(report.Assertions), firstBlocking(report))
}

// checked collects the files to be judged.
type checked struct {
	cfg   Config
	wh    *Warehouse // opened when a partition is named
	index map[string]*audit.Partition
	seen  map[string]bool // local files
}

func newChecked(cfg Config) *checked {
	return &checked{cfg: cfg, index: map[string]*audit.Partition{}, seen: map[string]bool{}}
}

// partitions are what was collected, sorted. The keys of a folder have the types
// that the rules give them, as a run's would.
func (c *checked) partitions(rules *audit.Rules) []audit.Partition {
	for _, p := range c.index {
		config := rules.For(p.Table)
		for i, k := range p.Keys {
			if config == nil {
				break // the audit refuses it
			}
			if t, ok := config.ColumnType(k.Name); ok && k.Type == "" {
				p.Keys[i].Type = t
			}
		}
	}
	return c.sorted()
}

func (c *checked) sorted() []audit.Partition {
	var out []audit.Partition
	for _, p := range c.index {
		slices.SortFunc(p.Files, func(a, b audit.File) int { return strings.Compare(a.Key, b.Key) })
		slices.Sort(p.Stray)
		out = append(out, *p)
	}
	slices.SortFunc(out, func(a, b audit.Partition) int { return strings.Compare(a.Path, b.Path) })
	return out
}

// partition returns the one of a folder; its keys are the folder's last
// components that hold a `=`.
func (c *checked) partition(dir string) *audit.Partition {
	if p := c.index[dir]; p != nil {
		return p
	}
	p := &audit.Partition{Partition: folderPartition(dir), Mode: manifest.ModeOverwrite}
	c.index[dir] = p
	return p
}

func folderPartition(dir string) manifest.Partition {
	parts := strings.Split(strings.Trim(dir, "/"), "/")
	first := len(parts)
	for first > 0 && strings.Contains(parts[first-1], "=") {
		first--
	}
	table := "files"
	if first > 0 && parts[first-1] != "." && parts[first-1] != ".." && parts[first-1] != "" {
		table = parts[first-1]
	}
	p := manifest.Partition{Path: dir, Table: table}
	for _, c := range parts[first:] {
		name, value, _ := strings.Cut(c, "=")
		if v, err := manifest.UnescapeValue(value); err == nil {
			value = v // else it stands for itself
		}
		p.Keys = append(p.Keys, manifest.KeyValue{Name: name, Value: value})
	}
	return p
}

// add collects one target.
func (c *checked) add(ctx context.Context, target string) error {
	if isURL(target) {
		return c.addURL(ctx, target)
	}
	info, err := os.Stat(target)
	switch {
	case err == nil && info.IsDir():
		return c.addDir(ctx, target)
	case err == nil:
		return c.addLocal(target, path.Dir(filepath.ToSlash(target)))
	}
	if strings.ContainsAny(target, "*?[") {
		found, err := filepath.Glob(target)
		if err != nil {
			return failf(KindUsage, "pattern %q", target).because(err)
		}
		if len(found) == 0 {
			return failf(KindNotFound, "nothing matches %q", target)
		}
		for _, f := range found {
			if err := c.add(ctx, f); err != nil {
				return err
			}
		}
		return nil
	}
	if c.cfg.Store == nil {
		return failf(KindNotFound, "%s is no file or folder here, and no warehouse is named", target).because(err).
			hint("-w URL, to check a partition of a warehouse")
	}
	return c.addPath(ctx, target)
}

// addLocal collects one local file.
func (c *checked) addLocal(file, dir string) error {
	src, err := newLocalSource(file)
	if err != nil {
		return outside("read %s", file).because(err)
	}
	p := c.partition(dir)
	key := filepath.ToSlash(file)
	if !c.seen[key] {
		c.seen[key] = true
		p.Files = append(p.Files, audit.File{Key: key, Source: src})
	}
	return nil
}

// addDir collects a folder's Parquet files; what else lies there is stray.
func (c *checked) addDir(ctx context.Context, dir string) error {
	n := 0
	var stray []string
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err = errors.Join(err, ctx.Err()); err != nil {
			return outside("list %s", dir).because(err)
		}
		rel, err := filepath.Rel(dir, p)
		if err != nil || rel == "." {
			return err
		}
		if hidden(filepath.ToSlash(rel)) {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if d.IsDir() {
			return nil
		}
		at := path.Dir(filepath.ToSlash(p))
		if !isParquet(p) {
			stray = append(stray, filepath.ToSlash(p))
			return nil
		}
		n++
		return c.addLocal(p, at)
	})
	if err == nil && n == 0 {
		return failf(KindNotFound, "no Parquet file (*.parquet) below %s", dir)
	}
	for _, s := range stray {
		p := c.nearest(path.Dir(s), filepath.ToSlash(dir))
		p.Stray = append(p.Stray, s)
	}
	return err
}

// nearest is the partition that a stray file counts for: its own folder's, else
// the first below it, else the first of the whole target. A folder without data
// is no partition.
func (c *checked) nearest(at, dir string) *audit.Partition {
	for _, below := range []string{at, dir} {
		var first *audit.Partition
		for _, p := range c.index {
			inside := p.Path == below || strings.HasPrefix(p.Path, strings.TrimSuffix(below, "/")+"/") || below == "."
			if inside && (first == nil || p.Path < first.Path) {
				first = p
			}
		}
		if first != nil {
			return first
		}
	}
	return c.partition(at)
}

func isParquet(name string) bool {
	switch strings.ToLower(path.Ext(filepath.ToSlash(name))) {
	case ".parquet", ".parq", ".pq":
		return true
	}
	return false
}

// addURL collects the objects of a prefix.
func (c *checked) addURL(ctx context.Context, url string) error {
	st, loc, err := c.cfg.OpenStore(ctx, url)
	if err != nil {
		return OpenError("", err)
	}
	w := &Warehouse{cfg: c.cfg}
	objects, _, err := w.listURL(ctx, url)
	if err != nil {
		return err
	}
	if len(objects) == 0 {
		return failf(KindNotFound, "nothing lies at %s", url)
	}
	if len(objects) == 1 && objects[0].URL == strings.TrimSuffix(url, "/") {
		in := manifest.Input{InputSource: manifest.InputSource{Source: url}, Objects: objects}
		if st, _, err = w.inputStore(ctx, in); err != nil {
			return err
		}
	}
	for _, o := range objects {
		p := c.partition(path.Dir(strings.TrimPrefix(o.URL, loc.Scheme+"://")))
		if !isParquet(o.Key) && len(objects) > 1 {
			p.Stray = append(p.Stray, o.URL)
			continue
		}
		src := &storeSource{st, o.Key, o.Size, store.Version{ETag: o.ETag, ID: o.VersionID}}
		p.Files = append(p.Files, audit.File{Key: o.URL, Source: src})
	}
	return nil
}

// open opens the warehouse, once.
func (c *checked) open(ctx context.Context) (err error) {
	if c.wh == nil {
		c.wh, err = Open(ctx, c.cfg)
	}
	return err
}

// addPath collects live partitions of the warehouse.
func (c *checked) addPath(ctx context.Context, target string) error {
	if err := c.open(ctx); err != nil {
		return err
	}
	files, err := c.wh.Files(ctx, []string{target})
	if err != nil {
		return err
	}
	for _, f := range files.Files {
		p := c.index[f.Path]
		if p == nil {
			p = &audit.Partition{Partition: f.Partition, Mode: manifest.ModeOverwrite}
			c.index[f.Path] = p
		}
		af := audit.File{Key: f.Key, Source: &storeSource{c.cfg.Store, f.Key, f.Size, store.Version{ETag: f.ETag, ID: f.VersionID}}}
		if f.SHA256 != nil {
			af.SHA256 = *f.SHA256
		}
		p.Files = append(p.Files, af)
	}
	return nil
}
