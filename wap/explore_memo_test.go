package wap

import (
	"context"
	"sync"

	"github.com/wap-cli/wap/manifest"
	"github.com/wap-cli/wap/wap/store"
)

// memo keeps decoded objects by their bytes. Executions of a scenario write the
// same objects over and over, and judging them was most of what an execution cost.
// Nobody may change what it gives.
type memo struct {
	lock    sync.Mutex
	objects map[string]remembered
}

type remembered struct {
	object any
	sha256 string
}

// memoSize is where a memo begins anew.
const memoSize = 20_000

// recall decodes an object, or finds it decoded.
func recall[T any](m *memo, body []byte) (*T, string, error) {
	m.lock.Lock()
	known, ok := m.objects[string(body)]
	m.lock.Unlock()
	if v, same := known.object.(*T); ok && same {
		return v, known.sha256, nil
	}
	v := new(T)
	if err := manifest.Decode(body, v); err != nil {
		return nil, "", err
	}
	known = remembered{v, manifest.SHA256Hex(body)}
	m.lock.Lock()
	defer m.lock.Unlock()
	if m.objects == nil || len(m.objects) >= memoSize {
		m.objects = map[string]remembered{}
	}
	m.objects[string(body)] = known
	return v, known.sha256, nil
}

// recalling is a store whose objects are decoded through a memo, by readRef and
// read.
type recalling struct {
	store.Store
	memo *memo
}

// fetched reads an object of a store and decodes it into v, which is a copy. It
// returns the digest of the bytes.
func fetched[T any](st store.Store, key string, v *T) (sha256 string, err error) {
	m := new(memo)
	if r, ok := st.(*recalling); ok {
		m = r.memo
	}
	body, _, err := st.Get(context.Background(), key)
	if err != nil {
		return "", err
	}
	known, sha256, err := recall[T](m, body)
	if err == nil {
		*v = *known
	}
	return sha256, err
}
