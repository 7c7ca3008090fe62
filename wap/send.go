package wap

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/wap-cli/wap/manifest"
	"github.com/wap-cli/wap/wap/store"
)

// signalGrace is how long a commit goes on after its caller was told to stop.
const signalGrace = 20 * time.Second

// errOvertaken: the pointer moved on from what a body was made for, and the body
// is not in its lineage. It can never land.
var errOvertaken = errors.New("somebody else moved the pointer")

// proposal is a pointer body for one version of the pointer: frozen bytes.
type proposal struct {
	from *head
	next manifest.Base
	body []byte
}

// propose writes the snapshot that is to follow h, and makes the pointer body
// that names it. The snapshot's object is acknowledged before this returns. A
// crash after it leaves a snapshot that nothing names: gc removes it.
func (w *Warehouse) propose(h *head, snap *manifest.Snapshot) (*proposal, *written, error) {
	snap.Format, snap.Warehouse = manifest.Format, w.id
	snap.Sequence, snap.Parent = h.Sequence+1, &h.Snapshot
	snap.Time, snap.By = w.cfg.Now(), w.cfg.By
	obj, err := encodeObject(manifest.SnapshotKey(snap.Sequence, w.cfg.NewID()), snap)
	if err != nil {
		return nil, nil, err
	}
	next := manifest.Base{Sequence: snap.Sequence, Snapshot: obj.ref}
	ptr := manifest.Pointer{
		Format: manifest.Format, Warehouse: w.id, Sequence: next.Sequence, Snapshot: next.Snapshot, Nonce: w.cfg.NewID(),
	}
	ptr.Recent = manifest.PushRecent(h.Recent, manifest.Recent{
		Sequence: next.Sequence, Snapshot: next.Snapshot, Runs: recentRuns(snap.Runs),
	})
	if err := ptr.Sign(); err != nil {
		return nil, nil, failf(KindUsage, "encode the pointer").because(err)
	}
	body, err := manifest.Encode(&ptr)
	if err != nil {
		return nil, nil, failf(KindUsage, "encode the pointer").because(err)
	}
	return &proposal{h, next, body}, obj, nil
}

// written is an object to be created.
type written struct {
	ref  manifest.Ref
	body []byte
}

func encodeObject(key string, v any) (*written, error) {
	body, err := manifest.Encode(v)
	if err != nil {
		return nil, failf(KindUsage, "encode %s", key).because(err)
	}
	return &written{manifest.Ref{Key: key, SHA256: manifest.SHA256Hex(body)}, body}, nil
}

// createAll creates objects whose names are new, in parallel.
func (w *Warehouse) createAll(ctx context.Context, objects []*written) error {
	errs := make(chan error, len(objects))
	limit := make(chan struct{}, w.cfg.Parallel)
	for _, o := range objects {
		go func() {
			limit <- struct{}{}
			defer func() { <-limit }()
			won, _, err := w.claim(ctx, o.ref.Key, o.body)
			if err == nil && !won {
				err = failf(KindStoreBroken, "%s exists, and was never written before", o.ref.Key)
			}
			errs <- err
		}()
	}
	var all error
	for range objects {
		all = errors.Join(all, <-errs)
	}
	return all
}

// send swaps the pointer to a proposal and reads it back, whatever the answer
// was: the pointer alone says whether it landed. It returns
//
//   - nil: it is part of the pointer's lineage;
//   - errOvertaken: this body can never land, make a new one;
//   - outcome_unknown: the deadline passed while some send may still act;
//   - outside: the deadline passed, and every send was provably refused or
//     never sent.
//
// Sending the identical bytes again is always safe: their condition can hold
// but once. Until this returns, the caller's context ends nothing: a signal
// shortens the deadline.
func (w *Warehouse) send(ctx context.Context, p *proposal) error {
	if w.cfg.Sending != nil {
		w.cfg.Sending(true)
		defer w.cfg.Sending(false)
	}
	own, cancel := graced(ctx, w.cfg.CommitTimeout)
	defer cancel()
	o := outlook{}
	for i := 0; ; i++ {
		v, err := w.cfg.Store.Swap(own, manifest.PointerKey, p.from.version, p.body)
		o.sent(acknowledged(v, err))
		h, err := w.head(own)
		if isKind(err, KindStoreBroken) {
			return err
		}
		if err == nil {
			var landed bool
			landed, err = w.landed(own, h, p, &o)
			if landed || isKind(err, KindStoreBroken) && !errors.Is(err, errGone) {
				return err
			}
			if err == nil && h.version != p.from.version {
				return errOvertaken
			}
		}
		if err != nil {
			o.last = err
		}
		if pause(own, i) != nil {
			return o.undecided()
		}
	}
}

// outlook is what is known of a proposal's sends so far.
type outlook struct {
	acknowledged int   // definite successes
	unknown      bool  // some send may have acted, or may act later
	last         error // for the message
}

func (o *outlook) sent(err error) {
	switch {
	case err == nil:
		o.acknowledged++
	case !store.Refused(err):
		o.unknown = true
	}
	if err != nil && !errors.Is(err, store.ErrVersionMismatch) {
		o.last = err
	}
}

// landed reports whether the proposal is in the lineage of h. One that was
// acknowledged and is not there, on a second read, is the store's broken word.
func (w *Warehouse) landed(ctx context.Context, h *head, p *proposal, o *outlook) (bool, error) {
	if h.Snapshot == p.next.Snapshot {
		return true, nil
	}
	ours, reached, err := w.descends(ctx, h, p.next)
	if err != nil || ours {
		return ours, err
	}
	if !reached && h.Sequence >= p.next.Sequence {
		// Already below the horizon: the acknowledgement is what is left.
		return o.acknowledged > 0, nil
	}
	if o.acknowledged > 1 || o.acknowledged > 0 && h.version != p.from.version {
		return false, failf(KindStoreBroken, "the store acknowledged sequence %d as %s, and the pointer is at %d without it",
			p.next.Sequence, p.next.Snapshot.Key, h.Sequence).hint("delete nothing; find out what answers for this bucket")
	}
	return false, nil
}

// undecided is how a commit ends that the deadline cut off.
func (o *outlook) undecided() error {
	if o.unknown || o.acknowledged > 0 {
		return failf(KindUnknown, "possibly published: the store did not say whether the commit happened").because(o.last).
			hint("run the same command again: it settles this, and is safe; wap resolve only tells")
	}
	return outside("commit: the store refused or never got every request").because(o.last)
}

// graced is a context that outlives its parent's end by signalGrace, but not d
// and not the parent's deadline.
func graced(parent context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	if t, ok := parent.Deadline(); ok {
		d = min(d, time.Until(t))
	}
	own, cancel := context.WithTimeoutCause(context.WithoutCancel(parent), d, fmt.Errorf("no answer within %v", d))
	stop := context.AfterFunc(parent, func() {
		t := time.AfterFunc(signalGrace, cancel)
		context.AfterFunc(own, func() { t.Stop() })
	})
	return own, func() { stop(); cancel() }
}

// fence sees the pointer move once: it swaps in a no-op snapshot, or loses that
// swap to somebody else's. Whoever read the pointer earlier loses its own.
func (w *Warehouse) fence(ctx context.Context, why string) error {
	h, err := w.head(ctx)
	if err != nil {
		return err
	}
	snap, err := load[manifest.Snapshot](ctx, w, h.Snapshot)
	if err != nil {
		return err
	}
	next := &manifest.Snapshot{
		Operation: manifest.OpFence, Reason: why, Tree: snap.Tree, Totals: snap.Totals, Tags: snap.Tags,
		Horizon: snap.Horizon, Exports: snap.Exports,
	}
	p, obj, err := w.propose(h, next)
	if err != nil {
		return err
	}
	if err := w.createAll(ctx, []*written{obj}); err != nil {
		return err
	}
	err = w.send(ctx, p)
	if errors.Is(err, errOvertaken) {
		return nil
	}
	return err
}

// unpublished is the error of a fence whose caller publishes nothing: what is
// unknown is only whether the fence stands, and a retry makes another.
func unpublished(err error) error {
	var e *Error
	if errors.As(err, &e) && e.Kind == KindUnknown {
		return outside("fence: the store did not say whether the pointer moved").because(e.Err)
	}
	return err
}
