package wap

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/wap-cli/wap/manifest"
	"github.com/wap-cli/wap/wap/store"
)

// pin is the listing that every attempt of a task is given.
type pin struct {
	ref    manifest.Ref
	inputs *manifest.Inputs
}

// summary describes the pin.
func (p *pin) summary() InputsSummary {
	if p == nil {
		return InputsSummary{}
	}
	s := InputsSummary{SHA256: p.ref.SHA256, Path: p.ref.Key}
	for _, in := range p.inputs.Inputs {
		s.Objects += int64(len(in.Objects))
		s.Bytes += in.Bytes
	}
	return s
}

// isURL tells plain prefixes from paths of the warehouse.
func isURL(source string) bool { return strings.Contains(source, "://") }

// resolveSources checks sources before the run exists, so that a run is not
// based on a state in which its input is missing, and resolves `@REF`s.
func (w *Warehouse) resolveSources(ctx context.Context, h *head, sources []manifest.InputSource) ([]manifest.Reference, error) {
	var refs []manifest.Reference
	for _, src := range sources {
		if isURL(src.Source) {
			if _, err := store.ParseURL(src.Source); err != nil {
				return nil, failf(KindUsage, "input").because(err)
			}
			continue
		}
		p, err := manifest.ParsePathRef(src.Source)
		if err != nil {
			return nil, failf(KindUsage, "input").because(err)
		}
		base, err := w.resolve(ctx, h, p)
		if err != nil {
			return nil, err
		}
		if p.Ref != "" {
			refs = append(refs, manifest.Reference{Source: src.Source, Base: base})
		}
		st, err := w.at(ctx, base)
		if err != nil {
			return nil, err
		}
		e, _, err := st.lookup(ctx, pathComponents(p.Path))
		if err != nil {
			return nil, err
		}
		if e == nil && p.Path != "" {
			return nil, failf(KindNotReady, "input %s is not in sequence %d", src.Source, base.Sequence).
				hint("retry when it was published")
		}
	}
	return refs, nil
}

// pathComponents splits a tree path; the root has none.
func pathComponents(p string) []string {
	if p == "" {
		return nil
	}
	return strings.Split(p, "/")
}

// sources are what was listed.
func (p *pin) sources() []manifest.InputSource {
	var out []manifest.InputSource
	for _, in := range p.inputs.Inputs {
		out = append(out, in.InputSource)
	}
	return out
}

// pinInputs returns the pinned listing for a task, making it if this is the
// first call to list its inputs. Tasks share the run's listing; one of several
// that names other sources before its first attempt has a listing of its own.
// Nil: no inputs.
func (w *Warehouse) pinInputs(ctx context.Context, rec *record, task string, req BeginRequest) (*pin, error) {
	given := req.Inputs
	if given == nil {
		given = rec.Inputs
	}
	owner, p, err := w.findPin(ctx, rec, task, given)
	if err != nil || p == nil && len(given) == 0 {
		return nil, err
	}
	if p == nil {
		if err := w.mayPin(ctx, rec, task, given); err != nil {
			return nil, err
		}
		if p, err = w.makePin(ctx, rec, owner, given, req); err != nil {
			return nil, err
		}
	}
	if req.Inputs != nil && !slices.Equal(p.sources(), req.Inputs) {
		return nil, inputsDiffer(rec, "task "+strconv.Quote(owner), p.sources(), req.Inputs)
	}
	return p, nil
}

// findPin says whose listing the task reads, and returns it where it is there.
func (w *Warehouse) findPin(ctx context.Context, rec *record, task string, given []manifest.InputSource) (owner string, p *pin, err error) {
	generation := rec.Generation
	if rec.Redo != nil && rec.Redo.KeepPin {
		generation = rec.Redo.PinGeneration
	}
	if task != "" && len(rec.Tasks) > 1 {
		p, err = w.readPin(ctx, rec, generation, task)
		if err != nil || p != nil || !slices.Equal(given, rec.Inputs) {
			return task, p, err
		}
	}
	p, err = w.readPin(ctx, rec, generation, manifest.SharedInputs)
	return manifest.SharedInputs, p, err
}

// mayPin refuses a first listing that some attempt of the task was not given:
// one that began before read the run's inputs, or none.
func (w *Warehouse) mayPin(ctx context.Context, rec *record, task string, given []manifest.InputSource) error {
	kept := rec.Redo != nil && rec.Redo.KeepPin
	switch {
	case slices.Equal(given, rec.Inputs):
		return nil
	case task == "" || kept:
		return inputsDiffer(rec, "the run", rec.Inputs, given)
	}
	attempts, err := w.attempts(ctx, rec, rec.Generation)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(attempts, func(a manifest.Attempt) bool { return a.Task == task }) {
		return inputsDiffer(rec, "the run", rec.Inputs, given)
	}
	return nil
}

// inputsDiffer refuses inputs that contradict a pin.
func inputsDiffer(rec *record, whose string, has, given []manifest.InputSource) error {
	return failf(KindUsage, "%s: the pinned inputs of %s are %s, this call gives %s", rec.names(), whose, sourceList(has), sourceList(given)).
		hint("leave --input out to take the pinned ones")
}

func sourceList(sources []manifest.InputSource) string {
	var out []string
	for _, s := range sources {
		out = append(out, strings.TrimPrefix(s.Name+"="+s.Source, "="))
	}
	if len(out) == 0 {
		return "none"
	}
	return strings.Join(out, ", ")
}

// readPin reads a pinned listing, or nil.
func (w *Warehouse) readPin(ctx context.Context, rec *record, generation int64, owner string) (*pin, error) {
	key := manifest.InputsKey(rec.Run.Run, generation, owner)
	inputs := new(manifest.Inputs)
	body, _, err := fetch(ctx, w.cfg.Store, key, inputs)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	return &pin{ref: manifest.Ref{Key: key, SHA256: manifest.SHA256Hex(body)}, inputs: inputs}, err
}

// makePin lists the sources and creates the inputs object; the first wins, and
// everybody uses what stands.
func (w *Warehouse) makePin(ctx context.Context, rec *record, owner string, sources []manifest.InputSource, req BeginRequest) (*pin, error) {
	obj := &manifest.Inputs{
		Format: manifest.Format, Run: rec.Run.Run, Generation: rec.Generation, Task: owner, Time: w.cfg.Now(),
	}
	for _, src := range sources {
		in, err := w.listInput(ctx, rec, src, req)
		if err != nil {
			return nil, err
		}
		obj.Inputs = append(obj.Inputs, in)
	}
	body, err := manifest.Encode(obj)
	if err != nil {
		return nil, failf(KindUsage, "inputs of %s", rec.names()).because(err)
	}
	key := manifest.InputsKey(rec.Run.Run, rec.Generation, owner)
	won, standing, err := w.claim(ctx, key, body)
	if err != nil {
		return nil, err
	}
	if !won {
		body, obj = standing, new(manifest.Inputs)
		err = decode(key, standing, obj)
	}
	return &pin{ref: manifest.Ref{Key: key, SHA256: manifest.SHA256Hex(body)}, inputs: obj}, err
}

// listInput lists one source and judges whether it is ready.
func (w *Warehouse) listInput(ctx context.Context, rec *record, src manifest.InputSource, req BeginRequest) (manifest.Input, error) {
	in := manifest.Input{InputSource: src}
	var markers []string
	var err error
	if isURL(src.Source) {
		in.Objects, markers, err = w.listURL(ctx, src.Source)
	} else {
		in.Snapshot, in.Objects, err = w.listPath(ctx, rec, src.Source)
	}
	if err != nil {
		return in, err
	}
	slices.SortFunc(in.Objects, func(a, b manifest.Object) int { return cmp.Compare(a.URL, b.URL) })
	for _, o := range in.Objects {
		in.Bytes += o.Size
	}
	if len(in.Objects) == 0 && !req.AllowEmptyInput {
		e := failf(KindNotReady, "input %s is empty", src.Source).hint("retry when it is there, or --allow-empty-input")
		if abs, err := filepath.Abs(src.Source); err == nil && !isURL(src.Source) {
			if _, err := os.Stat(abs); err == nil {
				e = e.hint("a bare path is a partition of the warehouse; the local folder is --input file://%s", abs)
			}
		}
		return in, e
	}
	for _, r := range req.Ready {
		if n, ok := strings.CutPrefix(r, "min:"); ok {
			least, err := strconv.Atoi(n)
			if err != nil || least < 0 {
				return in, failf(KindUsage, "--ready %q", r).hint("--ready min:N or --ready _SUCCESS")
			}
			if len(in.Objects) < least {
				return in, failf(KindNotReady, "input %s has %d objects, not %d yet", src.Source, len(in.Objects), least)
			}
		} else if isURL(src.Source) && !slices.Contains(markers, r) {
			return in, failf(KindNotReady, "input %s has no %s yet", src.Source, r)
		}
	}
	return in, nil
}

// listURL lists a plain prefix, or names a single object. Names that engines
// hide are markers, not input.
func (w *Warehouse) listURL(ctx context.Context, url string) (objects []manifest.Object, markers []string, err error) {
	st, loc, err := w.cfg.OpenStore(ctx, url)
	if err != nil {
		return nil, nil, OpenError("input "+url, err)
	}
	for e, err := range store.ListVersions(ctx, st, "") {
		if err != nil {
			return nil, nil, outside("list input %s", url).because(err)
		}
		if hidden(e.Key) {
			markers = append(markers, e.Key)
		} else if !strings.HasSuffix(e.Key, "/") {
			objects = append(objects, object(e, loc))
		}
	}
	if len(objects) > 0 || len(markers) > 0 {
		return objects, markers, nil
	}
	dir, name := path.Split(strings.TrimSuffix(url, "/"))
	if strings.HasSuffix(dir, "://") {
		return nil, nil, nil // a whole bucket; nothing lies above it
	}
	if st, loc, err = w.cfg.OpenStore(ctx, dir); err != nil {
		return nil, nil, OpenError("input "+url, err)
	}
	e, err := st.Head(ctx, name)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, outside("read input %s", url).because(err)
	}
	return []manifest.Object{object(e, loc)}, nil, nil
}

func object(e store.Entry, loc store.Location) manifest.Object {
	return manifest.Object{
		Key: e.Key, URL: loc.URL(e.Key), Size: e.Size, ETag: e.Version.ETag, VersionID: e.Version.ID, Rows: -1,
	}
}

// hidden reports whether engines skip a key.
func hidden(key string) bool {
	for _, c := range strings.Split(key, "/") {
		if strings.HasPrefix(c, "_") || strings.HasPrefix(c, ".") {
			return true
		}
	}
	return false
}

// listPath lists the live files below a path of the warehouse: as of the base,
// or of its reference.
func (w *Warehouse) listPath(ctx context.Context, rec *record, source string) (*manifest.Base, []manifest.Object, error) {
	p, err := manifest.ParsePathRef(source)
	if err != nil {
		return nil, nil, failf(KindUsage, "input").because(err)
	}
	base := *rec.Base
	if p.Ref != "" {
		i := slices.IndexFunc(rec.References, func(r manifest.Reference) bool { return r.Source == source })
		if i >= 0 {
			base = rec.References[i].Base
		} else if base, err = w.lateReference(ctx, rec, p); err != nil {
			return nil, nil, err
		}
	}
	st, err := w.at(ctx, base)
	if err != nil {
		return nil, nil, err
	}
	files, _, err := st.files(ctx, p.Path)
	if err != nil {
		return nil, nil, err
	}
	var out []manifest.Object
	for _, f := range files {
		out = append(out, manifest.Object{
			Key: f.Key, URL: w.cfg.Location.URL(f.Key), Size: f.Size, ETag: f.ETag, VersionID: f.VersionID,
			SHA256: f.SHA256, Rows: f.Rows, Partition: f.Partition.Path,
		})
	}
	return &base, out, nil
}

// lateReference resolves a reference that was not named when the run began:
// only what the run's floor keeps from gc can be pinned.
func (w *Warehouse) lateReference(ctx context.Context, rec *record, p manifest.PathRef) (manifest.Base, error) {
	h, err := w.head(ctx)
	if err != nil {
		return manifest.Base{}, err
	}
	base, err := w.resolve(ctx, h, p)
	if err == nil && base.Sequence < min(rec.Floor, rec.Base.Sequence) {
		err = failf(KindUsage, "input %s is sequence %d, older than what %s keeps readable (%d)", p, base.Sequence, rec.names(), min(rec.Floor, rec.Base.Sequence)).
			hint("name it with --input in the call that begins the run")
	}
	return base, err
}

// recheckInputs lists the pinned prefixes again: the command's own reads carried
// no condition. It returns what changed, where that is allowed.
func (s *session) recheckInputs(ctx context.Context, opt SealOptions) ([]string, error) {
	if s.pin == nil {
		return nil, nil
	}
	var changed []string
	for _, in := range s.pin.inputs.Inputs {
		if in.Snapshot != nil {
			continue // files of a warehouse never change
		}
		now, _, err := s.w.listURL(ctx, in.Source)
		if err != nil {
			return nil, err
		}
		have := make(map[string]manifest.Object, len(now))
		for _, o := range now {
			have[o.Key] = o
		}
		for _, o := range in.Objects {
			n, ok := have[o.Key]
			switch {
			case !ok:
				changed = append(changed, o.URL+" is gone")
			case n.ETag != o.ETag || n.Size != o.Size:
				changed = append(changed, o.URL+" was overwritten")
			}
		}
	}
	if len(changed) > 0 && !opt.InputsMayChange {
		return nil, failf(KindInputChanged, "%d of the pinned inputs changed since the run began: %s", len(changed), changed[0]).
			hint("wap abort --run %[1]s, then wap redo %[1]s --reason TEXT pins them anew; or --inputs-may-change records it instead", quote(s.rec.Run.Run))
	}
	return changed, nil
}
