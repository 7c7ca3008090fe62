package faultstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/wap-cli/wap/wap/store"
)

func (s *Store) Create(ctx context.Context, key string, body []byte) (store.Version, error) {
	return s.write(ctx, Op{Verb: Create, Key: key}, writing{body, store.ErrExists,
		func(ctx context.Context, body []byte) (store.Version, error) {
			v, err := s.inner.Create(ctx, key, body)
			if err == nil {
				s.rec.saw(key, state{})
			}
			return v, err
		}})
}

func (s *Store) Swap(ctx context.Context, key string, v store.Version, body []byte) (store.Version, error) {
	return s.write(ctx, Op{Verb: Swap, Key: key}, writing{body, store.ErrVersionMismatch,
		func(ctx context.Context, body []byte) (store.Version, error) {
			return s.inner.Swap(ctx, key, v, body)
		}})
}

// writing is a Create or Swap.
type writing struct {
	body    []byte
	refusal error // what ActRefused answers
	put     func(ctx context.Context, body []byte) (store.Version, error)
}

func (s *Store) write(ctx context.Context, op Op, w writing) (version store.Version, err error) {
	put := func(ctx context.Context, body []byte) (store.Version, error) {
		v, err := w.put(ctx, body)
		if err == nil {
			s.rec.saw(op.Key, state{exists: true, body: body, version: v})
		}
		return v, err
	}
	do := func(ctx context.Context, op *Op) (err error) {
		op.Requests++
		op.Sent += int64(len(w.body))
		version, err = put(ctx, w.body)
		return err
	}
	err = s.run(ctx, op, action{do, func(f *Fault, op *Op) error {
		switch f.Kind {
		case ActLater:
			op.Requests++
			body := bytes.Clone(w.body)
			return s.hold(f, op, func(ctx context.Context) error {
				_, err := put(ctx, body)
				return err
			})
		case ActRefused:
			_ = do(ctx, op)
			return fmt.Errorf("%s %q: %w", op.Verb, op.Key, w.refusal)
		case NoVersion:
			err := do(ctx, op)
			version = store.Version{}
			return err
		}
		return nil // HollowSuccess
	}})
	if err != nil {
		version = store.Version{}
	}
	return version, err
}

func (s *Store) Get(ctx context.Context, key string) (body []byte, v store.Version, err error) {
	do := func(ctx context.Context, op *Op) (err error) {
		op.Requests++
		body, v, err = s.inner.Get(ctx, key)
		op.Received += int64(len(body))
		if err == nil || errors.Is(err, store.ErrNotFound) {
			s.rec.saw(key, state{exists: err == nil, body: body, version: v})
		}
		return err
	}
	err = s.run(ctx, Op{Verb: Get, Key: key}, action{do, func(f *Fault, op *Op) error { // StaleGet
		op.Requests++
		old, _ := s.rec.before(key)
		if !old.exists {
			return fmt.Errorf("get %q: %w", key, store.ErrNotFound)
		}
		body, v = bytes.Clone(old.body), old.version
		op.Received += int64(len(body))
		return nil
	}})
	if err != nil {
		return nil, store.Version{}, err
	}
	return body, v, nil
}

// List passes entries on as they come, so that After is when the caller is done.
func (s *Store) List(ctx context.Context, prefix string) iter.Seq2[store.Entry, error] {
	return s.listing(ctx, prefix, s.inner.List)
}

// ListVersions counts as List, and fails as it.
func (s *Store) ListVersions(ctx context.Context, prefix string) iter.Seq2[store.Entry, error] {
	return s.listing(ctx, prefix, func(ctx context.Context, prefix string) iter.Seq2[store.Entry, error] {
		return store.ListVersions(ctx, s.inner, prefix)
	})
}

type lister func(ctx context.Context, prefix string) iter.Seq2[store.Entry, error]

func (s *Store) listing(ctx context.Context, prefix string, list lister) iter.Seq2[store.Entry, error] {
	return func(yield func(store.Entry, error) bool) {
		stopped := false
		do := func(ctx context.Context, op *Op) error {
			n := 0
			op.Requests++
			for e, err := range list(ctx, prefix) {
				if err != nil {
					return err
				}
				if n++; n > 1 && n%listPage == 1 {
					op.Requests++
				}
				if stopped = stopped || !yield(e, nil); stopped {
					return nil
				}
			}
			return nil
		}
		err := s.run(ctx, Op{Verb: List, Key: prefix}, action{do, func(f *Fault, op *Op) error {
			entries, err := s.half(ctx, op)
			if err != nil {
				return err
			}
			for _, e := range entries {
				if stopped = !yield(e, nil); stopped {
					return nil
				}
			}
			if f.Kind == ShortList {
				return nil
			}
			return f.err(op)
		}})
		if err != nil && !stopped {
			yield(store.Entry{}, err)
		}
	}
}

// half lists all and keeps the first half.
func (s *Store) half(ctx context.Context, op *Op) ([]store.Entry, error) {
	var all []store.Entry
	op.Requests++
	for e, err := range s.inner.List(ctx, op.Key) {
		if err != nil {
			return nil, err
		}
		all = append(all, e)
	}
	return all[:len(all)/2], nil
}

func (s *Store) Delete(ctx context.Context, key string) error {
	remove := func(ctx context.Context) error {
		err := s.inner.Delete(ctx, key)
		if err == nil {
			s.rec.saw(key, state{})
		}
		return err
	}
	return s.run(ctx, Op{Verb: Delete, Key: key}, action{
		func(ctx context.Context, op *Op) error {
			op.Requests++
			return remove(ctx)
		},
		func(f *Fault, op *Op) error { return s.hold(f, op, remove) }, // ActLater
	})
}

func (s *Store) Upload(ctx context.Context, key string, src io.ReaderAt, size int64) (e store.Entry, err error) {
	do := func(ctx context.Context, op *Op) (err error) {
		op.Requests++
		op.Sent += size
		e, err = s.inner.Upload(ctx, key, src, size)
		return err
	}
	err = s.run(ctx, Op{Verb: Upload, Key: key}, action{do, func(f *Fault, op *Op) error {
		switch f.Kind {
		case ActLater:
			body, err := io.ReadAll(io.NewSectionReader(src, 0, size)) // src may be closed by then
			if err != nil {
				return err
			}
			return s.hold(f, op, func(ctx context.Context) error {
				_, err := s.inner.Upload(ctx, key, bytes.NewReader(body), int64(len(body)))
				return err
			})
		case NoVersion:
			err := do(ctx, op)
			e.Version = store.Version{}
			return err
		}
		e = store.Entry{Key: key, Size: size} // HollowSuccess
		return nil
	}})
	if err != nil {
		return store.Entry{}, err
	}
	return e, nil
}

func (s *Store) GetRange(ctx context.Context, key string, off, n int64, v store.Version) (body io.ReadCloser, err error) {
	do := func(ctx context.Context, op *Op) (err error) {
		op.Requests++
		body, err = s.inner.GetRange(ctx, key, off, n, v)
		if err == nil {
			op.Received += n
		}
		return err
	}
	err = s.run(ctx, Op{Verb: GetRange, Key: key}, action{do, func(f *Fault, op *Op) error { // FailAfter
		if err := do(ctx, op); err != nil {
			return err
		}
		body = &brokenBody{body, n / 2, f.err(op)}
		return nil
	}})
	if err != nil {
		if body != nil { // the hook took the answer away
			body.Close()
		}
		return nil, err
	}
	return body, nil
}

// brokenBody fails when left bytes were read.
type brokenBody struct {
	io.ReadCloser
	left int64
	err  error
}

func (b *brokenBody) Read(p []byte) (int, error) {
	if b.left == 0 {
		return 0, b.err
	}
	n, err := b.ReadCloser.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}

func (s *Store) Head(ctx context.Context, key string) (e store.Entry, err error) {
	do := func(ctx context.Context, op *Op) (err error) {
		op.Requests++
		e, err = s.inner.Head(ctx, key)
		return err
	}
	err = s.run(ctx, Op{Verb: Head, Key: key}, action{do: do})
	if err != nil {
		return store.Entry{}, err
	}
	return e, nil
}
