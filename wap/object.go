package wap

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/wap-cli/wap/manifest"
	"github.com/wap-cli/wap/wap/store"
)

// sends is how often a write with an unknown outcome is sent again before the
// call gives up, pointer swaps aside.
const sends = 4

// errGone: an immutable object is missing. The pointer may have moved past the
// horizon that kept it; who meets this reads the pointer again.
var errGone = errors.New("object is missing")

// errMoved: somebody else changed the run record first. Read it again.
var errMoved = errors.New("run record has moved on")

// errNoVersion: an answer that looks like success and names no version, as an
// empty or foreign page does. Nothing is known.
var errNoVersion = errors.New("the store's success names no version")

// acknowledged is the error of a write: success needs a version.
func acknowledged(v store.Version, err error) error {
	if err == nil && v.ETag == "" {
		return errNoVersion
	}
	return err
}

// outside makes an error of the world outside: nothing was committed, a retry
// may help.
func outside(format string, args ...any) *Error { return failf(KindOutside, format, args...) }

// decode decodes a stored object. What a newer wap wrote is exit 2, anything
// else that does not decode is exit 9: all of wap's objects are checked before
// they are written.
func decode(key string, body []byte, v any) error {
	return decodeFault(key, manifest.Decode(body, v))
}

// fetch reads and decodes an object that is known by its key alone, without a
// checksum; ErrNotFound stays as it is. A body that does not decode is read a
// second time before it is the store's fault: something on the way may have cut
// it off.
func fetch(ctx context.Context, st store.Meta, key string, v any) ([]byte, store.Version, error) {
	var bad error
	for range 2 {
		body, version, err := st.Get(ctx, key)
		if errors.Is(err, store.ErrNotFound) {
			return nil, version, err
		}
		if err != nil {
			return nil, version, outside("read %s", key).because(err)
		}
		if bad = decode(key, body, v); bad == nil {
			return body, version, nil
		}
	}
	return nil, store.Version{}, bad
}

// treeFault gives an error of a walk over the tree its kind: nodes are decoded
// in package manifest.
func treeFault(err error) error {
	var own *Error
	var bad *manifest.FormatError
	var newer *manifest.NewerFormatError
	if errors.As(err, &own) || !errors.As(err, &bad) && !errors.As(err, &newer) {
		return err
	}
	return decodeFault("a node below "+manifest.TreePrefix, err)
}

func decodeFault(key string, err error) error {
	if err == nil {
		return nil
	}
	var newer *manifest.NewerFormatError
	if errors.As(err, &newer) {
		return failf(KindNewerFormat, "%s was written by a newer wap", key).because(err).
			hint("upgrade wap")
	}
	return failf(KindStoreBroken, "%s is damaged", key).because(err).
		hint("restore %s from a backup or an object version; wap changes nothing here", key)
}

// Load implements manifest.Loader: the checked bytes of an immutable object.
// A wrong checksum is read a second time before it is the store's fault.
func (w *Warehouse) Load(ctx context.Context, ref manifest.Ref) ([]byte, error) {
	var bad error
	for range 2 {
		body, _, err := w.cfg.Store.Get(ctx, ref.Key)
		if errors.Is(err, store.ErrNotFound) {
			return nil, failf(KindStoreBroken, "%s is missing", ref.Key).because(errors.Join(errGone, err))
		}
		if err != nil {
			return nil, outside("read %s", ref.Key).because(err)
		}
		if bad = ref.Check(body); bad == nil {
			return body, nil
		}
	}
	return nil, failf(KindStoreBroken, "%s is damaged", ref.Key).because(bad).
		hint("restore %s from a backup or an object version", ref.Key)
}

// load reads and decodes an immutable object.
func load[T any](ctx context.Context, w *Warehouse, ref manifest.Ref) (*T, error) {
	body, err := w.Load(ctx, ref)
	if err != nil {
		return nil, err
	}
	v := new(T)
	return v, decode(ref.Key, body, v)
}

// create writes an object under a name that only this call can have chosen.
// An unknown outcome is settled by sending the same bytes again.
func (w *Warehouse) create(ctx context.Context, key string, v any) (manifest.Ref, error) {
	body, err := manifest.Encode(v)
	if err != nil {
		return manifest.Ref{}, failf(KindUsage, "encode %s", key).because(err)
	}
	won, _, err := w.claim(ctx, key, body)
	if err == nil && !won {
		err = failf(KindStoreBroken, "%s exists, and was never written before", key)
	}
	return manifest.Ref{Key: key, SHA256: manifest.SHA256Hex(body)}, err
}

// claim creates key, which others may want too. It reports whether these very
// bytes stand there now, and if not, the ones that do.
func (w *Warehouse) claim(ctx context.Context, key string, body []byte) (won bool, standing []byte, err error) {
	for i := range sends {
		var v store.Version
		v, err = w.cfg.Store.Create(ctx, key, body)
		if err = acknowledged(v, err); err == nil {
			return true, nil, nil
		}
		if errors.Is(err, store.ErrExists) {
			standing, _, err = w.cfg.Store.Get(ctx, key)
			if err == nil {
				return bytes.Equal(standing, body), standing, nil
			}
			// A mark may be deleted in between; and not every 412 is the store's own.
			if !errors.Is(err, store.ErrNotFound) {
				return false, nil, outside("read %s", key).because(err)
			}
		}
		// MinIO answers 403 to a create that meets a delete of the same key: marks
		// are created and deleted by many.
		forbidden := errors.Is(err, store.ErrForbidden) && !strings.HasPrefix(key, manifest.MarkPrefix)
		if forbidden || pause(ctx, i) != nil {
			break
		}
	}
	return false, nil, outside("create %s", key).because(err)
}

// remove deletes what nobody needs any more. It only tidies: what it leaves
// behind, the next settling or gc removes.
func (w *Warehouse) remove(ctx context.Context, key string) {
	if err := w.cfg.Store.Delete(ctx, key); err != nil {
		w.notify(Warning, "delete "+key+": "+err.Error(), "")
	}
}

// pause waits before try i+1: exponential with full jitter, from 20 ms to 2 s.
func pause(ctx context.Context, i int) error {
	ceiling := min(20*time.Millisecond<<min(i, 10), 2*time.Second)
	t := time.NewTimer(rand.N(ceiling) + time.Millisecond)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
