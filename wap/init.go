package wap

import (
	"context"
	"errors"
	"strings"

	"github.com/wap-cli/wap/manifest"
	"github.com/wap-cli/wap/wap/store"
)

// InitResult says what `wap init` found or made.
type InitResult struct {
	Warehouse string `json:"warehouse"` // the id
	URL       string `json:"url"`
	Sequence  int64  `json:"sequence"`
	Created   bool   `json:"created"` // false: it was there already
}

// nestedLook is how many keys init looks at for a warehouse below.
const nestedLook = 10_000

// Init creates a warehouse: snapshot 0, the pointer with a fresh id, and
// warehouse.json with the pointer's id, in this order. Repeated after a crash it
// completes; a warehouse that is there is no error. Errors: nested_warehouse,
// store_broken (a warehouse object without a pointer, a store that ignores
// conditions), outside.
func Init(ctx context.Context, cfg Config) (*InitResult, error) {
	cfg = cfg.withDefaults()
	w := &Warehouse{cfg: cfg}
	if err := w.checkNesting(ctx); err != nil {
		return nil, err
	}
	ptr, err := w.initPointer(ctx)
	if err != nil {
		return nil, err
	}
	w.id = ptr.Warehouse
	wh := &manifest.Warehouse{Format: manifest.Format, ID: w.id, Created: cfg.Now()}
	body, err := manifest.Encode(wh)
	if err != nil {
		return nil, failf(KindUsage, "encode %s", manifest.WarehouseKey).because(err)
	}
	won, standing, err := w.claim(ctx, manifest.WarehouseKey, body)
	if err != nil {
		return nil, err
	}
	if !won {
		if err := decode(manifest.WarehouseKey, standing, wh); err != nil {
			return nil, err
		}
		if wh.ID != ptr.Warehouse {
			return nil, failf(KindStoreBroken, "%s is of warehouse %s, the pointer of %s", manifest.WarehouseKey, wh.ID, ptr.Warehouse)
		}
	}
	return &InitResult{Warehouse: w.id, URL: cfg.Location.String(), Sequence: ptr.Sequence, Created: won}, nil
}

// initPointer returns the pointer that stands. Where there is none it probes the
// store, and creates snapshot 0 and the pointer. A crash after the snapshot leaves one that
// nothing names; after the pointer, the next init writes warehouse.json.
func (w *Warehouse) initPointer(ctx context.Context) (*manifest.Pointer, error) {
	ptr, err := w.standingPointer(ctx)
	if err != nil || ptr != nil {
		return ptr, err
	}
	_, _, err = w.cfg.Store.Get(ctx, manifest.WarehouseKey)
	switch {
	case err == nil:
		// Written only after its pointer: unless an init finished meanwhile, the
		// pointer is lost, and a second one would begin a second history.
		if ptr, err = w.standingPointer(ctx); err == nil && ptr == nil {
			err = failf(KindStoreBroken, "%s has a warehouse object and no pointer: it vanished", w.cfg.Location).
				hint("restore %s from a backup or an object version", manifest.PointerKey)
		}
		return ptr, err
	case !errors.Is(err, store.ErrNotFound):
		return nil, outside("read %s", manifest.WarehouseKey).because(err)
	}
	if !w.cfg.TrustStore {
		if err := w.probeStore(ctx); err != nil {
			return nil, err
		}
	}
	id := w.cfg.NewID()
	snap := &manifest.Snapshot{
		Format: manifest.Format, Warehouse: id, Operation: manifest.OpInit, Time: w.cfg.Now(), By: w.cfg.By,
	}
	ref, err := w.create(ctx, manifest.SnapshotKey(0, w.cfg.NewID()), snap)
	if err != nil {
		return nil, err
	}
	ptr = &manifest.Pointer{
		Format: manifest.Format, Warehouse: id, Snapshot: ref, Nonce: w.cfg.NewID(),
		Recent: []manifest.Recent{{Sequence: 0, Snapshot: ref}},
	}
	if err := ptr.Sign(); err != nil {
		return nil, failf(KindUsage, "encode the pointer").because(err)
	}
	body, err := manifest.Encode(ptr)
	if err != nil {
		return nil, failf(KindUsage, "encode the pointer").because(err)
	}
	won, standing, err := w.claim(ctx, manifest.PointerKey, body)
	if err != nil || won {
		return ptr, err
	}
	return ptr, decode(manifest.PointerKey, standing, ptr)
}

// standingPointer reads the pointer of whatever warehouse stands here, or nil.
func (w *Warehouse) standingPointer(ctx context.Context) (*manifest.Pointer, error) {
	body, _, err := w.cfg.Store.Get(ctx, manifest.PointerKey)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, outside("read %s", manifest.PointerKey).because(err)
	}
	ptr := new(manifest.Pointer)
	return ptr, decode(manifest.PointerKey, body, ptr)
}

// checkNesting refuses a warehouse inside a warehouse. Above it every folder is
// looked at, below it the first keys that the store lists.
func (w *Warehouse) checkNesting(ctx context.Context) error {
	for _, parent := range parents(w.cfg.Location) {
		st, _, err := w.cfg.OpenStore(ctx, parent)
		if err != nil {
			return OpenError("look for a warehouse at "+parent, err)
		}
		_, _, err = st.Get(ctx, manifest.WarehouseKey)
		if err == nil {
			return failf(KindNested, "%s lies inside the warehouse %s", w.cfg.Location, parent).
				hint("-w %s", parent)
		}
		if !errors.Is(err, store.ErrNotFound) && !errors.Is(err, store.ErrForbidden) {
			return outside("look for a warehouse at %s", parent).because(err)
		}
	}
	n := 0
	for e, err := range w.cfg.Store.List(ctx, "") {
		if err != nil {
			return outside("list %s", w.cfg.Location).because(err)
		}
		if below, ok := strings.CutSuffix(e.Key, "/"+manifest.WarehouseKey); ok {
			return failf(KindNested, "%s holds the warehouse %s", w.cfg.Location, w.cfg.Location.URL(below))
		}
		if n++; n == nestedLook {
			break
		}
	}
	return nil
}

// parents are the locations above one, nearest first.
func parents(loc store.Location) []string {
	var out []string
	switch loc.Scheme {
	case store.SchemeS3:
		for p := loc.Prefix; p != ""; {
			p = p[:max(strings.LastIndex(p, "/"), 0)]
			out = append(out, store.Location{Scheme: loc.Scheme, Bucket: loc.Bucket, Prefix: p}.String())
		}
	case store.SchemeFile:
		for d := loc.Dir; d != "/" && d != ""; {
			d = d[:strings.LastIndex(d, "/")]
			out = append(out, store.Location{Scheme: loc.Scheme, Dir: max(d, "/")}.String())
		}
	}
	return out
}
