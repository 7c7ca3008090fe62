package audit

import (
	"encoding/binary"
	"fmt"
	"os"
	"slices"
	"sync"
)

// keyset finds the hashes that were added at least twice. It keeps eight bytes a
// hash, spread over parts by their top bits; above its budget the parts go to an
// unlinked temporary file. Within a part a hash is never kept more than twice,
// so that one value in a billion rows takes no more than in two.
// Its methods other than add are not for concurrent use.
type keyset struct {
	mu     sync.Mutex
	budget int64 // bytes held in memory, about
	held   int64
	parts  [keyParts]keyPart
	spill  *os.File
	end    int64 // of the spill file
}

const (
	keyParts    = 256
	keyPartBits = 8
)

type keyPart struct {
	hashes   []uint64
	segments []segment
}

// segment is a piece of the spill file, in bytes.
type segment struct{ offset, length int64 }

// add takes hashes in, in any order and from any goroutine. The error is the
// temporary file's.
func (k *keyset) add(hashes []uint64) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, h := range hashes {
		p := &k.parts[h>>(64-keyPartBits)]
		before := cap(p.hashes)
		p.hashes = append(p.hashes, h)
		k.held += int64(cap(p.hashes)-before) * 8
	}
	if k.held <= k.budget {
		return nil
	}
	return k.shrink()
}

// shrink cuts every part to two of a kind, and writes them out when that does
// not halve what is held.
func (k *keyset) shrink() error {
	used := int64(0)
	for i := range k.parts {
		k.parts[i].cut()
		used += int64(len(k.parts[i].hashes)) * 8
	}
	if used > k.budget/2 {
		for i := range k.parts {
			if err := k.write(&k.parts[i]); err != nil {
				return err
			}
		}
	}
	k.held = 0
	for i := range k.parts {
		p := &k.parts[i]
		p.hashes = slices.Clone(p.hashes) // what was cut goes back to the collector
		k.held += int64(cap(p.hashes)) * 8
	}
	return nil
}

// cut sorts and keeps at most two of a hash.
func (p *keyPart) cut() {
	slices.Sort(p.hashes)
	n := 0
	for _, h := range p.hashes {
		if n >= 2 && p.hashes[n-1] == h && p.hashes[n-2] == h {
			continue
		}
		p.hashes[n] = h
		n++
	}
	p.hashes = p.hashes[:n]
}

func (k *keyset) write(p *keyPart) error {
	if len(p.hashes) == 0 {
		return nil
	}
	if k.spill == nil {
		f, err := os.CreateTemp("", "wap-keys-*")
		if err != nil {
			return fmt.Errorf("create temporary file for keys: %w", err)
		}
		k.spill = f
		// Unlinked at once: nothing is left behind, however the process ends.
		if err := os.Remove(f.Name()); err != nil {
			return fmt.Errorf("unlink temporary file for keys: %w", err)
		}
	}
	buf := make([]byte, 0, len(p.hashes)*8)
	for _, h := range p.hashes {
		buf = binary.LittleEndian.AppendUint64(buf, h)
	}
	if _, err := k.spill.WriteAt(buf, k.end); err != nil {
		return fmt.Errorf("write temporary file for keys: %w", err)
	}
	p.segments = append(p.segments, segment{k.end, int64(len(buf))})
	k.end += int64(len(buf))
	p.hashes = nil
	return nil
}

// repeated calls fn with the hashes that were added at least twice, in rising
// order, in pieces of at most limit.
func (k *keyset) repeated(limit int, fn func(hashes []uint64) error) error {
	var found []uint64
	for i := range k.parts {
		if err := k.load(&k.parts[i]); err != nil {
			return err
		}
		p := &k.parts[i]
		slices.Sort(p.hashes)
		for j := 1; j < len(p.hashes); j++ {
			if p.hashes[j] != p.hashes[j-1] || j > 1 && p.hashes[j-2] == p.hashes[j] {
				continue
			}
			found = append(found, p.hashes[j])
			if len(found) == limit {
				if err := fn(found); err != nil {
					return err
				}
				found = found[:0]
			}
		}
		p.hashes = nil
	}
	if len(found) == 0 {
		return nil
	}
	return fn(found)
}

// load brings a part's segments back, cutting as it goes.
func (k *keyset) load(p *keyPart) error {
	for _, s := range p.segments {
		buf := make([]byte, s.length)
		if _, err := k.spill.ReadAt(buf, s.offset); err != nil {
			return fmt.Errorf("read temporary file for keys: %w", err)
		}
		for ; len(buf) > 0; buf = buf[8:] {
			p.hashes = append(p.hashes, binary.LittleEndian.Uint64(buf))
		}
		p.cut()
	}
	p.segments = nil
	return nil
}

// close frees the temporary file.
func (k *keyset) close() error {
	if k.spill == nil {
		return nil
	}
	if err := k.spill.Close(); err != nil {
		return fmt.Errorf("close temporary file for keys: %w", err)
	}
	return nil
}
