package audit

import "sync"

// keyWriters hands out writers to a keyset. What a writer holds back stays in it
// when it is given back, so that many small units cost no more than a large one.
type keyWriters struct {
	set   keyset
	dense *denseKeys // nil: none

	mu   sync.Mutex
	idle []*keyWriter
}

// keyWriter gathers entries by part, and dense keys by theirs, until there are
// some for the same one. It is for one goroutine.
type keyWriter struct {
	set   *keyset
	fill  [keyParts]uint8
	slots [keyParts * keyRun]uint64

	dense *denseWriter
}

// keyRun is how many entries a part gets at once.
const keyRun = 64

// take returns a writer for nobody else.
func (k *keyWriters) take() *keyWriter {
	k.mu.Lock()
	defer k.mu.Unlock()
	if n := len(k.idle); n > 0 {
		w := k.idle[n-1]
		k.idle = k.idle[:n-1]
		return w
	}
	w := &keyWriter{set: &k.set}
	if k.dense != nil {
		w.dense = newDenseWriter(k.dense, w)
	}
	return w
}

// give makes a writer another one's.
func (k *keyWriters) give(w *keyWriter) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.idle = append(k.idle, w)
}

// finish adds what all writers hold back, after the last was given back.
func (k *keyWriters) finish() {
	for _, w := range k.idle {
		w.finish()
	}
	k.idle, k.dense = nil, nil
}

// add takes in the hashes of one unit's rows.
func (w *keyWriter) add(hashes []uint64, unit int) {
	drop := w.set.unitBits
	for _, h := range hashes {
		w.put(h>>drop<<drop | uint64(unit))
	}
}

func (w *keyWriter) put(entry uint64) {
	part := entry >> (64 - keyPartBits)
	n := w.fill[part]
	w.slots[part*keyRun+uint64(n%keyRun)] = entry
	if n++; n == keyRun {
		n = 0
		w.set.push(int(part), w.slots[part*keyRun:(part+1)*keyRun])
	}
	w.fill[part] = n
}

func (w *keyWriter) finish() {
	if w.dense != nil {
		w.dense.finish()
	}
	for part, n := range w.fill {
		w.set.push(part, w.slots[part*keyRun:][:n])
	}
	w.fill = [keyParts]uint8{}
}
